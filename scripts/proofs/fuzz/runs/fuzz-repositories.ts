import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { Refusal } from '../../../../src/errors.ts'
import { arbitraryBytesOf } from '../arbitrary/arbitrary-bytes.ts'
import type { FuzzedService } from '../fuzzed-service.ts'
import { startFuzzedService } from '../fuzzed-service.ts'
import { seedStore } from '../seed-store.ts'

export interface RepositoryFuzz {
  readonly damages: number
  readonly seed: number
  /** Told of each file when it is done with. */
  readonly onProgress?: (what: string) => void
}

/** What came of it. */
export interface RepositoryFuzzFinding {
  /** How often damage was refused, served around, or kept the server from starting; by status or code. */
  readonly outcomes: ReadonlyMap<string, number>
  readonly problems: readonly string[]
}

/**
 * Changes, truncates or removes a file of a store that a server serves, or is about to: loose objects, packs, indexes, refs, records,
 * what is derived, key files. A read by id must then give what it gave before, or be refused; nothing may be answered 500, and the
 * server starts, or says in a sentence why not.
 */
export async function fuzzRepositories({
  damages,
  seed,
  onProgress,
}: RepositoryFuzz): Promise<RepositoryFuzzFinding> {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-damage-'))
  const whole = join(folder, 'whole')
  const outcomes = new Map<string, number>()
  const problems: string[] = []
  const onCrash = (error: unknown): void =>
    void problems.push(`not caught: ${error instanceof Error ? error.stack : String(error)}`)
  process.on('uncaughtException', onCrash).on('unhandledRejection', onCrash)
  try {
    const questions = await makeStore(whole)
    for (let count = 0; count < damages; count++) {
      const [damage] = fc.sample(arbitraryDamage, { numRuns: 1, seed: seed + count })
      if (!damage) break
      const storeDir = join(folder, 'damaged')
      cpSync(whole, storeDir, { recursive: true })
      // What is derived may have gone since the store was made.
      const files = filesOf(storeDir)
      const file = files[damage.file % files.length] ?? ''
      const found = await damagedRun(storeDir, file, damage, questions)
      for (const outcome of found.outcomes) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      problems.push(...found.problems.map((it) => `seed ${seed + count}, ${damage.kind} of ${file}: ${it}`))
      onProgress?.(
        `${damage.kind} of ${file}: ${[...new Set(found.outcomes)].join(', ')} ${found.problems.join('\n')}`,
      )
      rmSync(storeDir, { recursive: true, force: true })
    }
    return { outcomes, problems }
  } finally {
    rmSync(folder, { recursive: true, force: true })
    process.off('uncaughtException', onCrash).off('unhandledRejection', onCrash)
  }
}

interface Damage {
  readonly file: number
  readonly kind: 'bytes' | 'empty' | 'gone'
  /** Whether the server runs, and has read, before it happens. */
  readonly isLate: boolean
  readonly change: number
}

const arbitraryDamage: fc.Arbitrary<Damage> = fc.record({
  file: fc.nat(),
  kind: fc.constantFrom('bytes', 'bytes', 'bytes', 'empty', 'gone'),
  isLate: fc.boolean(),
  change: fc.nat(),
})

/** A request, and what a whole store answers it: the payload, where that is for ever. */
interface Question {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
  readonly payload?: unknown
}

const SURFACES = [
  ['workflows', 'workflow', 'flow'],
  ['applications', 'application', 'bot'],
  ['testsets', 'testset', 'rows'],
  ['environments', 'environment', 'production'],
  ['queries', 'query', 'traces'],
] as const

/** A store with a few repositories, one of them with loose objects; and what to ask of it. */
async function makeStore(storeDir: string): Promise<Question[]> {
  const service = await startFuzzedService(storeDir)
  const questions: Question[] = []
  await seedStore(service, () => undefined)
  for (const [surface, singular, slug] of SURFACES) {
    const { body } = await ask(service, {
      method: 'POST',
      path: `/${surface}/revisions/retrieve`,
      body: { [`${singular}_ref`]: { slug } },
    })
    const { id, variant_id } = body[`${singular}_revision`] as { id: string; variant_id: string }
    const path = `/${surface}/revisions/${id}`
    const { body: byId } = await ask(service, { method: 'GET', path })
    const { data } = byId[`${singular}_revision`] as { data: unknown }
    questions.push({ method: 'GET', path, payload: data })
    questions.push({
      method: 'POST',
      path: `/${surface}/revisions/retrieve`,
      body: { [`${singular}_ref`]: { slug } },
    })
    questions.push({
      method: 'POST',
      path: `/${surface}/revisions/log`,
      body: { [singular]: { [`${singular}_variant_id`]: variant_id } },
    })
    questions.push({ method: 'POST', path: `/${surface}/query`, body: {} })
    questions.push({
      method: 'GET',
      path: `/git/${surface === 'applications' ? 'workflows' : surface}/${slug}.git/info/refs?service=git-upload-pack`,
    })
  }
  for (const [surface, singular, slug, data] of [
    ['applications', 'application', 'bot', { parameters: { after: true } }],
    ['testsets', 'testset', 'rows', { testcases: [{ data: { country: 'Chad' } }] }],
  ] as const) {
    const { body } = await ask(service, {
      method: 'POST',
      path: `/${surface}/revisions/retrieve`,
      body: { [`${singular}_ref`]: { slug } },
    })
    const { variant_id } = body[`${singular}_revision`] as { variant_id: string }
    const commit = { [`${singular}_variant_id`]: variant_id, message: 'After', data }
    questions.push({
      method: 'POST',
      path: `/${surface}/revisions/commit`,
      body: { [`${singular}_revision_commit`]: commit },
    })
  }
  questions.push({
    method: 'POST',
    path: '/applications/revisions/deploy',
    body: { application_variant_ref: { slug: 'bot.fork' }, environment_ref: { slug: 'staging' } },
  })
  questions.push({ method: 'POST', path: '/traces/query', body: {} }, { method: 'GET', path: '/ready' })
  await service.stop({ keepStore: true })
  unpack(join(storeDir, 'default', 'workflows', 'bot.git'))
  return questions
}

/** Makes every object of a repository a loose one, as git does. */
function unpack(repository: string): void {
  const packs = join(repository, 'objects', 'pack')
  const names = readdirSync(packs).filter((name) => name.endsWith('.pack'))
  const bytes = names.map((name) => readFileSync(join(packs, name)))
  rmSync(packs, { recursive: true })
  for (const input of bytes) execFileSync('git', ['-C', repository, 'unpack-objects', '-q'], { input })
}

function filesOf(storeDir: string): string[] {
  return readdirSync(storeDir, { recursive: true, encoding: 'utf8' })
    .filter((file) => !/^\.|traces\.db-/.test(file) && statSync(join(storeDir, file)).isFile())
    .sort()
}

async function damagedRun(
  storeDir: string,
  file: string,
  damage: Damage,
  questions: readonly Question[],
): Promise<{ readonly outcomes: readonly string[]; readonly problems: readonly string[] }> {
  const problems: string[] = []
  const outcomes: string[] = []
  if (!damage.isLate) inflict(storeDir, file, damage)
  let service: FuzzedService
  try {
    service = await startFuzzedService(storeDir)
  } catch (error) {
    if (error instanceof Refusal) return { outcomes: [`not started: ${error.code}`], problems }
    return { outcomes, problems: [`did not start: ${error instanceof Error ? error.stack : String(error)}`] }
  }
  try {
    if (damage.isLate) {
      for (const question of questions.filter(({ path }) => !/commit|deploy$/.test(path)))
        await ask(service, question)
      inflict(storeDir, file, damage)
    }
    for (const question of questions) {
      const { status, text, body } = await ask(service, question)
      const code = /"code":"(\w+)"/.exec(text)?.[1] ?? ''
      outcomes.push(`${status} ${code}`.trim())
      if (status >= 500 && status !== 503) {
        problems.push(
          `${question.method} ${question.path} answered ${status}: ${text}\n  ${service.takeErrors().join('  ')}`,
        )
      }
      if (status !== 200 || question.payload === undefined) continue
      const [revision] = Object.entries(body).filter(([name]) => name.endsWith('_revision'))
      const { data } = (revision?.[1] ?? {}) as { data?: unknown }
      if (!isDeepStrictEqual(data, question.payload))
        problems.push(`${question.path} answers something else: ${text}`)
    }
  } catch (error) {
    problems.push(`no answer: ${String(error)}`)
  } finally {
    await service
      .stop({ keepStore: true })
      .catch((error) => problems.push(`did not stop: ${String(error?.stack)}`))
  }
  return { outcomes, problems }
}

function inflict(storeDir: string, file: string, { kind, change }: Damage): void {
  const path = join(storeDir, file)
  if (kind === 'gone') rmSync(path, { force: true })
  else if (kind === 'empty') writeFileSync(path, '')
  else {
    const bytes = readFileSync(path)
    const [changed = bytes] = fc.sample(arbitraryBytesOf(bytes), { numRuns: 1, seed: change })
    // A new file in its place, as a copy that failed leaves it: what is mapped stays as it was.
    rmSync(path)
    writeFileSync(path, changed)
  }
}

async function ask(
  { url, keys }: FuzzedService,
  { method, path, body }: Question,
): Promise<{
  readonly status: number
  readonly text: string
  readonly body: Readonly<Record<string, unknown>>
}> {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: keys.admin ?? '', 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  })
  const text = await answer.text()
  const isJson = /json/.test(answer.headers.get('content-type') ?? '')
  return { status: answer.status, text, body: isJson ? (JSON.parse(text) as Record<string, unknown>) : {} }
}
