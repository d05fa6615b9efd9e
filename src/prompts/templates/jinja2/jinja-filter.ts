import { TemplateFailure } from '../template-format.ts'
import type { JinjaOperators } from './jinja-operators.ts'
import type { CallArguments, JinjaValue } from './jinja-values.ts'

/** What filters and tests are given to work with. */
export interface JinjaRuntime {
  readonly operators: JinjaOperators
  /** What the filter of this name makes of a value. */
  filter(name: string, value: JinjaValue, args: CallArguments): JinjaValue
  /** Whether the test of this name passes. */
  test(name: string, value: JinjaValue, args: CallArguments): boolean
}

/** What a filter makes of a value and its arguments. */
export type JinjaFilter = (value: JinjaValue, args: CallArguments, runtime: JinjaRuntime) => JinjaValue

/** A filter whose arguments were found by their names or their places. */
type Named = (value: JinjaValue, given: ReadonlyMap<string, JinjaValue>, runtime: JinjaRuntime) => JinjaValue

/** A filter with these parameters, in their order. Arguments that it has no parameter for are refused. */
export function named(
  name: string,
  parameters: readonly string[],
  filter: Named,
): readonly [string, JinjaFilter] {
  return [
    name,
    (value, { positional, named: byName }, runtime) => {
      const given = new Map<string, JinjaValue>()
      for (const [at, argument] of positional.entries()) {
        const parameter = parameters[at]
        if (parameter === undefined)
          throw new TemplateFailure(
            `The filter ${name} takes ${parameters.length === 0 ? 'no' : `at most ${parameters.length}`} arguments.`,
          )
        given.set(parameter, argument)
      }
      for (const [parameter, argument] of byName) {
        if (!parameters.includes(parameter) || given.has(parameter)) {
          const known = parameters.length === 0 ? 'no arguments' : parameters.join(', ')
          throw new TemplateFailure(`The filter ${name} takes ${known}, and not ${parameter}.`)
        }
        given.set(parameter, argument)
      }
      return filter(value, given, runtime)
    },
  ]
}
