# By name, or by ID.
tofu import sealward_service.shop shop
