export {
  MOST_LISTED,
  ProblemCollector,
  READ_ONLY,
  UNKNOWN_KEY,
  boundedProblem,
  formatValueForPeople,
  problemsRefusal,
  refusalCode,
} from './documents/problems.ts'
export {
  type ConditionOperator,
  type FilteringOperator,
  isWithinBound,
  readFiltering,
} from './families/query-filtering.ts'
