export { announceWrites } from './journal/finish-journal.ts'
export { JOURNAL_FOLDER } from './journal/journal-record.ts'
export {
  type Arbiter,
  type DecidedBeside,
  type DecidedElsewhere,
  type DecidedMove,
  type DecidedWrite,
  type Decision,
  type DecisionNote,
  type FillProgress,
  type Filling,
  type Freshness,
  type LargePack,
  type NameClaim,
  NameClaimed,
  type Seen,
} from './transactions/arbiter.ts'
export type { Transaction } from './transactions/transaction.ts'
export { RefLocks } from './transactions/write-path.ts'
