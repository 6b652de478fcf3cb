# By ID, or by a name that no other API key has. The secret of an imported key is not available.
tofu import sealward_api_key.till till
