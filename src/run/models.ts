export { createModels } from './models/create-models.ts'
export { MODEL_PROVIDERS, environmentCredentials, keyVariable, urlVariable } from './models/model-endpoint.ts'
export { type KeyTest, testKey } from './models/test-key.ts'
export type { Credential, CredentialSource } from './models/models.ts'
