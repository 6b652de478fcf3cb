# By ID, by the ID of the service and the name, or by a name that no other key has.
tofu import sealward_key.envelopes svc_01k8m3c5vwe6vbqz0m7jg9y2xs/envelopes
