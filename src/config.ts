import { CannotStart } from './errors.ts'
import {
  environmentCredentials,
  keyVariable,
  MODEL_PROVIDERS,
  urlVariable,
  type Credential,
} from './run/models.ts'
import { type Setting, SETTINGS } from './settings.ts'

type Settings = {
  readonly [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never
}

type Environment = Readonly<Record<string, string | undefined>>

/** The validated configuration. */
export interface Config extends Settings {
  /** The credentials of language model providers, by provider. */
  readonly modelCredentials: ReadonlyMap<string, Credential>
  /** The `OTEL_…` variables, for the trace exporter. */
  readonly telemetry: Readonly<Record<string, string>>
}

/**
 * Reads the configuration from environment variables; an empty variable counts as unset. Throws one
 * `ConfigError` that names every invalid variable, its value and what is allowed.
 */
export function readConfig(env: Environment): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const problems: string[] = []
  const values = Object.fromEntries(
    Object.entries<Setting<unknown>>(SETTINGS).map(
      ([name, { variable, takes, read, byDefault, isSecret }]) => {
        const text = given[variable] ?? byDefault
        const value = text === undefined ? undefined : read(text)
        const shown = isSecret ? 'the value given (not shown)' : JSON.stringify(text)
        if (text !== undefined && value === undefined) problems.push(`${variable}: ${shown} is not ${takes}`)
        return [name, value]
      },
    ),
  ) as unknown as Settings // each value was read by its own setting; an invalid one is a problem
  for (const problem of modelProblems(given)) problems.push(problem)
  if (problems.length > 0) throw new ConfigError(problems)
  return {
    ...values,
    versionType: values.compat === 'existing' ? 'string' : values.versionType,
    modelCredentials: environmentCredentials(given),
    telemetry: Object.fromEntries(Object.entries(given).filter(isTelemetry)),
  }
}

/** Prevents the start: the message lists every problem on its own line. */
export class ConfigError extends CannotStart {
  override readonly name = 'ConfigError'

  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
  }
}

function isTelemetry(variable: [string, string | undefined]): variable is [string, string] {
  return variable[0].startsWith('OTEL_')
}

/**
 * Invalid provider addresses, and keys that cannot be sent in a header. The values are secret and not shown.
 */
function* modelProblems(given: Environment): Generator<string> {
  for (const provider of MODEL_PROVIDERS.keys()) {
    const [url, key] = [urlVariable(provider), keyVariable(provider)]
    const address = given[url] ?? 'http://unset'
    if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
      yield `${url}: the value given (not shown) is not an http or https address, such as http://127.0.0.1:11434/v1`
    if (!/^[\x20-\x7e]*$/.test((given[key] ?? '').trim()))
      yield `${key}: the value given (not shown) is not printable ASCII characters on one line`
  }
}
