export { openSecrets } from './secrets/open-secrets.ts'
export { ProjectSecrets, type SecretPurpose, type SecretRecord } from './secrets/project-secrets.ts'
export { readSecretFile } from './secrets/secret-file.ts'
export { parseSecretsKey, readStoreKey } from './secrets/secrets-key.ts'
