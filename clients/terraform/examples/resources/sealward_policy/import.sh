# By number, or by ID.
tofu import sealward_policy.payments PAYMENTS
