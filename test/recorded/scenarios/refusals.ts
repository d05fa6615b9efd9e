import type { ApiDocument, Operation } from '../../support/clients/api-document.ts'
import { type RefusalsStep, type RefusedRequest, refusals, type Scenario } from '../harness/scenario.ts'
import { NOBODY } from './surfaces.ts'

/** The groups of paths that have a recording each, by the first word of a path; what no group names is in `others`. */
const GROUPS = [
  'workflows',
  'applications',
  'evaluators',
  'testsets',
  'environments',
  'queries',
  'simple',
] as const

/** git over HTTP is no JSON, so that the document's reader leaves it out. */
const GIT_OPERATIONS: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/git/workflows/nobody.git/info/refs?service=git-upload-pack'],
  ['GET', '/git/workflows/nobody.git/info/refs?service=git-receive-pack'],
  ['GET', '/git/workflows/nobody.git/info/refs'],
  ['GET', '/git/workflows/nobody.git/HEAD'],
  ['GET', '/git/nothing/nobody.git/info/refs?service=git-upload-pack'],
  ['POST', '/git/workflows/nobody.git/git-upload-pack'],
  ['POST', '/git/workflows/nobody.git/git-receive-pack'],
  ['PUT', '/git/workflows/nobody.git'],
]

/** What every operation of the OpenAPI document refuses, whatever it does: made from the document, so that a new route has its own. */
export const refusalScenarios: readonly Scenario[] = [
  ...[...GROUPS, 'others'].map((group): Scenario => ({
    name: `refusals-${group}`,
    steps: (document) =>
      document.operations
        .filter((operation) => groupOf(operation) === group)
        .map((operation) => refusalsOf(operation, document)),
  })),
  {
    name: 'refusals-too-large',
    server: 'small',
    steps: (document) => {
      const taking = document.operations.filter(({ body }) => body !== undefined)
      return [...new Set(taking.map(groupOf))].map((group) =>
        refusals(
          `bodies that are too large: ${group}`,
          taking
            .filter((operation) => groupOf(operation) === group)
            .map((operation) => ({
              what: operation.name,
              method: operation.method,
              path: filledPath(operation),
              body: JSON.stringify({ text: 'x'.repeat(5000) }),
            })),
        ),
      )
    },
  },
  { name: 'refusals-git', steps: GIT_OPERATIONS.map(([method, path]) => gitRefusals(method, path)) },
]

function groupOf({ path }: Operation): string {
  const word = path.split('/')[1] ?? ''
  return (GROUPS as readonly string[]).includes(word) ? word : 'others'
}

/** Values of parameters that have the right form, and that nothing has. */
const UNKNOWN: Readonly<Record<string, string>> = {
  id: NOBODY,
  trace_id: 'e'.repeat(32),
  span_id: 'e'.repeat(16),
  version: 'v0',
  name: 'NOBODY',
  path: 'data.json',
}

function filledPath({ path }: Pick<Operation, 'path'>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => UNKNOWN[name] ?? 'nobody')
}

function refusalsOf(operation: Operation, { operations }: ApiDocument): RefusalsStep {
  const { method, name, path: pattern, body, isUpload, isEndless } = operation
  const path = filledPath(operation)
  const valid = body?.example ?? (method === 'GET' || method === 'DELETE' ? undefined : {})
  const ask = (what: string, more: Partial<RefusedRequest> = {}): RefusedRequest => ({
    what,
    method,
    path,
    ...more,
  })
  const requests = [
    ask('no key', { key: 'none', body: valid }),
    ask('a key that nobody has', { key: 'unknown', body: valid }),
    // Which keys are let through follows from the scopes; a request that is let through has an empty body or an id of nothing.
    ...(isEndless ? [] : (['read', 'write', 'deploy', 'invoke'] as const)).map((scope) =>
      ask(`a key of the scope ${scope}`, { key: scope, body: method === 'GET' ? undefined : {} }),
    ),
    ask('a parameter that nobody reads', { path: `${path}?nobody_reads=1`, body: valid && {} }),
    ...(body || isUpload
      ? [
          ask('text that is no JSON', { body: '{"a":' }),
          ask('a media type that is not taken', { body: 'a=b', headers: { 'content-type': 'text/css' } }),
          ask('an encoding that is not known', { body: '{}', headers: { 'content-encoding': 'rot13' } }),
          // An upload takes a list: rows.
          ...(isUpload ? [] : [ask('a list', { body: [] })]),
          ask('a field that nobody reads', { body: { nobody_reads: 1 } }),
        ]
      : []),
    ...(pattern.includes('{') ? [ask('an unknown id', { body: valid })] : []),
    // The first operation of a path asks for methods that the path does not have.
    ...(operations.find((other) => other.path === pattern) === operation
      ? [ask('a method that the path does not take', { method: 'PATCH', body: {} })]
      : []),
  ].filter(({ what }) => !(isEndless && what === 'a parameter that nobody reads'))
  return refusals(name, requests)
}

function gitRefusals(method: string, path: string): RefusalsStep {
  const body = method === 'GET' ? undefined : 'nothing that git says'
  return refusals(`${method} ${path}`, [
    { what: 'no key', method, path, body, key: 'none' },
    { what: 'a key that nobody has', method, path, body, key: 'unknown' },
    ...['admin', 'read', 'write', 'deploy', 'invoke'].map((key) => ({
      what: `a key of the scope ${key}`,
      method,
      path,
      body,
      key,
    })),
    { what: 'a method that is not taken', method: 'PATCH', path, body: 'x' },
  ])
}
