export {
  type Connection,
  DatabaseFile,
  DatabaseFiles,
  IN_MEMORY,
  type SqlValue,
  bytesOf,
  hexOf,
  inTransaction,
  userVersion,
  utf8Of,
} from './sqlite/database-file.ts'
export { DatabaseThread, DatabaseTrouble } from './sqlite/database-thread.ts'
export { serveFiles, setAsideDamaged } from './sqlite/serve-files.ts'
export { isBusy, isDamage, isStorageTrouble, isUnusable } from './sqlite/sqlite-errors.ts'
export type { ThreadRequest } from './sqlite/thread-messages.ts'
export { ownSignal } from './sqlite/thread-signal.ts'
