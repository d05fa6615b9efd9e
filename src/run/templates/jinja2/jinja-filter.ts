import { TemplateFailure } from '../template-format.ts'
import type { JinjaOperators } from './jinja-operators.ts'
import type { CallArguments, JinjaValue } from './jinja-values.ts'

/** What filters and tests can use. */
export interface JinjaRuntime {
  readonly operators: JinjaOperators
  /** Applies the filter of this name to a value. */
  filter(name: string, value: JinjaValue, args: CallArguments): JinjaValue
  /** Whether the test of this name passes. */
  test(name: string, value: JinjaValue, args: CallArguments): boolean
}

export type JinjaFilter = (value: JinjaValue, args: CallArguments, runtime: JinjaRuntime) => JinjaValue

/** A filter with its arguments bound to parameter names. */
type Named = (value: JinjaValue, given: ReadonlyMap<string, JinjaValue>, runtime: JinjaRuntime) => JinjaValue

/** Defines a filter with these parameters, in order; other arguments are refused. */
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
