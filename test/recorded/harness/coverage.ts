import { PROBLEMS } from '../../../src/http/problem.ts'
import type { KeptStep } from './recordings.ts'

/** Which operations and error codes the recordings reach. */
export interface Coverage {
  readonly operations: readonly {
    readonly name: string
    readonly count: number
    readonly statuses: readonly string[]
  }[]
  /** Operations that no recording has an answer of 2xx or 3xx of. */
  readonly withoutSuccess: readonly string[]
  readonly codes: ReadonlyMap<string, number>
  readonly codesWithout: readonly string[]
}

/** `names` are those of the OpenAPI document: `GET /workflows/{id}`. */
export function coverageOf(steps: readonly KeptStep[], names: readonly string[]): Coverage {
  const patterns = names
    .map((name) => ({
      name,
      pattern: new RegExp(
        `^${name.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{(\w+)\}/g, (_, parameter: string) => (parameter === 'path' ? '.+' : '[^/]+'))}$`,
      ),
    }))
    // a word of a path goes before a parameter
    .sort((a, b) => places(a.name) - places(b.name))
  const found = new Map<string, string[]>()
  const codes = new Map<string, number>()
  for (const { request, status, answer, git, exit, events } of steps) {
    if (events !== undefined) found.set('GET /events', [...(found.get('GET /events') ?? []), '200'])
    if (git !== undefined && exit === 0)
      for (const name of REQUESTS_OF_GIT.get(git.split(' ')[0] ?? '') ?? [])
        found.set(name, [...(found.get(name) ?? []), '200'])
    if (request === undefined) continue
    const plain = request
      .replace(/\?.*$/, '')
      .replace(/^(\w+) \/api(?=\/)(?!\/public\/)/, '$1 ')
      .replace(/(?<=\w)\/$/, '')
    const name = patterns.find(({ pattern }) => pattern.test(plain))?.name
    if (name !== undefined) found.set(name, [...(found.get(name) ?? []), String(status)])
    const code = typeof answer === 'object' ? answer?.code : undefined
    if (typeof code === 'string') codes.set(code, (codes.get(code) ?? 0) + 1)
  }
  const operations = names.map((name) => {
    const statuses = found.get(name) ?? []
    return { name, count: statuses.length, statuses: [...new Set(statuses)].sort() }
  })
  return {
    operations,
    withoutSuccess: operations
      .filter(({ statuses }) => !statuses.some((status) => /^[23]/.test(status)))
      .map(({ name }) => name),
    codes,
    codesWithout: Object.keys(PROBLEMS).filter((code) => !codes.has(code)),
  }
}

/** What the git program asks of the server where it succeeds. */
const REQUESTS_OF_GIT: ReadonlyMap<string, readonly string[]> = new Map([
  ['clone', ['GET /git/{family}/{slug}.git/info/refs', 'POST /git/{family}/{slug}.git/git-upload-pack']],
  ['push', ['GET /git/{family}/{slug}.git/info/refs', 'POST /git/{family}/{slug}.git/git-receive-pack']],
])

/** What `npm run record` prints. */
export function coverageReport({ operations, withoutSuccess, codes, codesWithout }: Coverage): string {
  const width = Math.max(...operations.map(({ name }) => name.length))
  const counted = operations.reduce((sum, { count }) => sum + count, 0)
  return [
    ...operations.map(
      ({ name, count, statuses }) =>
        `${name.padEnd(width)} ${String(count).padStart(4)}  ${statuses.join(' ')}`,
    ),
    '',
    ...[...codes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([code, count]) => `${code.padEnd(28)} ${count}`),
    '',
    `${counted} requests to ${operations.length} operations; without a success: ${withoutSuccess.map((name) => `\n  ${name}`).join('') || 'none'}`,
    `error codes that no recording reaches: ${codesWithout.map((code) => `\n  ${code}`).join('') || 'none'}`,
    '',
  ].join('\n')
}

function places(name: string): number {
  return (name.match(/\{/g) ?? []).length * 10 + (name.includes('{path}') ? 5 : 0)
}
