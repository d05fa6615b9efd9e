export { CacheFile, readOrNothing } from './files/cache-file.ts'
export { ChangeFeed } from './files/change-feed.ts'
export type {
  AbandonedLease,
  Changed,
  DocumentWriter,
  Documents,
  HowToLease,
  HowToPut,
  Lease,
} from './files/documents.ts'
export { createDurableFolder, ensuringFolder, syncTree } from './files/durable-folder.ts'
export { documentsOf } from './files/file-documents.ts'
export {
  type FileHandle,
  type FileStat,
  type Fs,
  type LogHandle,
  OWNER_ONLY,
  type ReadHandle,
} from './files/fs.ts'
export { type ChangedRecord, JsonRecordFile } from './files/json-record-file.ts'
export {
  type Liveness,
  announceProcess,
  isDead,
  isDeadSinceBoot,
  refuseOtherMachines,
} from './files/liveness.ts'
export {
  type BeforeTakeOver,
  type HeldLock,
  LOCK_PATIENCE_MS,
  LockFile,
  deadOwnerOf,
  endDeadLock,
  holdingLock,
  isLockOf,
  ownFile,
  stillLocked,
  sweepDeadLocks,
} from './files/lock-file.ts'
export { nodeFs } from './files/node-fs.ts'
export {
  type ProcessIdentity,
  identityName,
  isBeforeBoot,
  parseIdentity,
  thisProcess,
} from './files/process-identity.ts'
export { StoreGuard, guardedFs } from './files/store-guard.ts'
