export { checkFirstParents } from './history/check-first-parents.ts'
export {
  FIRST_PARENTS_FILE,
  History,
  type HistoryNode,
  ancestorAt,
  isOnChain,
} from './history/first-parent-history.ts'
export { commonHistory, firstParentsWhile } from './history/merge-bases.ts'
