import type { JinjaValue } from './jinja-library.ts'

/** What a filter or method makes of a value and its arguments, by position and by name. */
export type JinjaFilter = (
  operand: JinjaValue,
  args: readonly JinjaValue[],
  named: ReadonlyMap<string, JinjaValue>,
) => JinjaValue
