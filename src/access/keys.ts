export {
  type KeyChoice,
  createApiKey,
  createFirstApiKey,
  createProject,
  isHalfMoved,
  isLive,
  keyNames,
  keysOfFolder,
  listApiKeys,
  liveKeyIn,
  revokeApiKey,
  settleMovedKeys,
  widenKeysToMove,
} from './keys/api-keys.ts'
export { type Authenticate, type KeyRing, openKeyRing } from './keys/authenticator.ts'
export { type Caller, principalOf } from './keys/caller.ts'
export type { ResultAddress } from './keys/intent-file.ts'
export { Intents, type KeyedRequest } from './keys/intents.ts'
export { type KeyAuthor, keyAuthor } from './keys/key-author.ts'
export { type ApiKey, readApiKeyFile } from './keys/key-file.ts'
export { KeyUses } from './keys/key-uses.ts'
export { keyOfLink } from './keys/link-key.ts'
export { DEFAULT_PROJECT, checkProjectName, isProjectName } from './keys/project-name.ts'
export { MAX_PROJECT_NAME, projectNames, projectRecords } from './keys/projects.ts'
export { SCOPES, type Scope, requireScope } from './keys/scope.ts'
export { type OpenSession, SESSION_SECONDS, type SessionAct, Sessions } from './keys/sessions.ts'
