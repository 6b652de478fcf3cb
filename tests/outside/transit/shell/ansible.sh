# shellcheck shell=bash
# Ansible: the modules of community.hashi_vault with a token and with AppRole.

cat >playbook.yaml <<'YAML'
- hosts: localhost
  gather_facts: false
  vars:
    card: "{{ 'card' | b64encode }}"
    ansible_python_interpreter: "{{ ansible_playbook_python }}"
  tasks:
    - name: Encrypt
      community.hashi_vault.vault_write:
        path: transit/encrypt/data
        data: { plaintext: "{{ card }}" }
      register: sealed
    # The module logs in. vault_login would hide a token that is also a secret_id.
    - name: Log in and decrypt
      community.hashi_vault.vault_write:
        auth_method: approle
        role_id: "{{ lookup('env', 'VAULT_ROLE_ID') }}"
        secret_id: "{{ lookup('env', 'VAULT_SECRET_ID') }}"
        path: transit/decrypt/data
        data: { ciphertext: "{{ sealed.data.data.ciphertext }}" }
      register: opened
    - name: List the keys
      community.hashi_vault.vault_list:
        path: transit/keys
      register: keys
    - name: Read a key
      ansible.builtin.set_fact:
        key: "{{ lookup('community.hashi_vault.vault_read', 'transit/keys/ec') }}"
    - name: Compare
      ansible.builtin.assert:
        that:
          - opened.data.data.plaintext == card
          - "'data' in keys.data.data['keys']"
          - key.data.type == 'ecdsa-p256'
YAML
ansible-playbook --inventory localhost, --connection local playbook.yaml
