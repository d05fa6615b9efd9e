import { invalid } from '../../errors.ts'

/** Where finished spans are exported to, and how. */
export interface OtlpSettings {
  readonly url: string
  readonly protocol: 'http/protobuf' | 'http/json'
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly compression: 'gzip' | 'none'
  /** What every span is a span of: `service.name` and whatever the operator adds. */
  readonly resource: Readonly<Record<string, string>>
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads OpenTelemetry's own variables (https://opentelemetry.io/docs/specs/otel/protocol/exporter/): those of traces before the common
 * ones, an empty one counting as unset. Undefined where nothing is to be exported: no endpoint and no OTEL_TRACES_EXPORTER=otlp, or
 * exporting turned off. Refuses a value it cannot use by the name of its variable.
 */
export function otlpSettings(env: Environment): OtlpSettings | undefined {
  const endpoint = read(env, ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'])
  const exporters = env['OTEL_TRACES_EXPORTER']?.split(',').map((name) => name.trim())
  const isWanted = exporters?.some((name) => name !== '')
    ? exporters.includes('otlp')
    : endpoint !== undefined
  if (!isWanted || env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true') return undefined
  return {
    url: urlOf(endpoint),
    protocol: oneOf(env, 'PROTOCOL', ['http/protobuf', 'http/json']),
    headers: {
      ...pairsOf(env, 'OTEL_EXPORTER_OTLP_HEADERS'),
      ...pairsOf(env, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'),
    },
    timeoutMs: timeoutOf(env),
    compression: oneOf(env, 'COMPRESSION', ['none', 'gzip']),
    resource: {
      'service.name': 'branchpoint',
      ...pairsOf(env, 'OTEL_RESOURCE_ATTRIBUTES'),
      ...(env['OTEL_SERVICE_NAME']?.trim() ? { 'service.name': env['OTEL_SERVICE_NAME'].trim() } : {}),
    },
  }
}

interface Variable {
  readonly name: string
  readonly value: string
}

/** The first of the variables that is set. */
function read(env: Environment, names: readonly string[]): Variable | undefined {
  for (const name of names) {
    const value = env[name]?.trim()
    if (value) return { name, value }
  }
  return undefined
}

function ofTraces(env: Environment, setting: string): Variable | undefined {
  return read(env, [`OTEL_EXPORTER_OTLP_TRACES_${setting}`, `OTEL_EXPORTER_OTLP_${setting}`])
}

/** The endpoint of traces is used as it is; the path of traces goes below the common one. */
function urlOf(endpoint: Variable | undefined): string {
  if (!endpoint) return 'http://localhost:4318/v1/traces'
  const { name, value } = endpoint
  if (!URL.canParse(value) || !/^https?:/i.test(value))
    throw invalid([name], `this is not an http or https URL; give one such as http://localhost:4318.`)
  if (name.includes('TRACES')) return new URL(value).href
  return `${value.replace(/\/+$/, '')}/v1/traces`
}

/** The setting, which is one of these values; the first of them if it is not set. */
function oneOf<const T extends string>(env: Environment, setting: string, values: readonly [T, ...T[]]): T {
  const given = ofTraces(env, setting)
  if (!given) return values[0]
  const found = values.find((value) => value === given.value)
  if (found !== undefined) return found
  throw invalid(
    [given.name],
    `${JSON.stringify(given.value)} is not supported; use one of ${values.join(', ')}.`,
  )
}

function timeoutOf(env: Environment): number {
  const given = ofTraces(env, 'TIMEOUT')
  if (!given) return 10_000
  if (/^[0-9]{1,6}$/.test(given.value) && Number(given.value) > 0) return Number(given.value)
  throw invalid(
    [given.name],
    `${JSON.stringify(given.value)} is not a number of milliseconds from 1 to 999999.`,
  )
}

/** `key=value,key=value`, keys and values percent-encoded. The values may be credentials, and are not shown. */
function pairsOf(env: Environment, name: string): Record<string, string> {
  const pairs: Record<string, string> = {}
  for (const pair of (env[name] ?? '').split(',')) {
    if (pair.trim() === '') continue
    const [, key, value] = /^\s*([^=\s]+)\s*=(.*)$/s.exec(pair) ?? []
    try {
      if (key === undefined || value === undefined) throw new URIError()
      pairs[decodeURIComponent(key)] = decodeURIComponent(value.trim())
    } catch {
      throw invalid([name], 'this is not a list key=value,key=value with keys and values percent-encoded.')
    }
  }
  return pairs
}
