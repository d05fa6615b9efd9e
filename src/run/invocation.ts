export { committedViolation, outputsViolation } from './invocation/effective.ts'
export { findRunnable } from './invocation/find-runnable.ts'
export { type Inspection, inspect } from './invocation/inspect.ts'
export {
  type HandlerServices,
  type Invocation,
  type InvocationServices,
  invoke,
} from './invocation/invoke.ts'
