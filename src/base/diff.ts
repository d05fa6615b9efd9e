export {
  AlignmentSteps,
  type Difference,
  alignMiddles,
  alignNumbers,
  middleOf,
} from './diff/align-numbers.ts'
export { containsJson } from './diff/contains-json.ts'
export { equalInSlices } from './diff/equal-json.ts'
export { type JsonChange, lightChanges, patchInSlices } from './diff/json-patch.ts'
