# By ID, or by a name that no other identity has.
tofu import sealward_identity.cart cart
