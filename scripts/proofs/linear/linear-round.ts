import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Version, Register } from './operation.ts'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startBranchpoint } from '../../../test/support/servers/child-server.ts'
import { ask } from '../kill/ask.ts'
import { git } from '../../../test/support/git/git-program.ts'
import { checkRegister } from './check-register.ts'
import type { Fault } from './database-faults.ts'
import { Pusher } from './pusher.ts'
import { Recorder } from './recorder.ts'
import { Unavailable } from './rest.ts'
import { RestClient } from './rest-client.ts'

export interface LinearRound {
  readonly storeDir: string
  /**
   * The URL of the database that the servers share, for each by its number from 0, with a folder of its own beside `storeDir`; absent
   * where they share `storeDir`.
   */
  readonly database?: (server: number) => string
  /** Their READS. */
  readonly reads?: string | undefined
  /** What goes wrong in the middle of it: then requests may be answered 503. */
  readonly fault?: Fault | undefined
  /** A folder for clones. */
  readonly folder: string
  /** Server processes over the store. */
  readonly servers: number
  readonly clients: number
  readonly pushers: number
  /** How long the load runs, in milliseconds, where that is long enough for `LEAST_STEPS`. */
  readonly runFor: number
}

/** A recorded history, and everything that is wrong with it. */
export interface LinearFinding {
  readonly registers: ReadonlyMap<string, Register>
  /** How many requests were answered 503. */
  readonly unavailable: number
  readonly problems: readonly string[]
}

/**
 * Clients commit, compare and set, deploy, retrieve and push against servers over one store, all to the same two variants and two
 * environments; then the history of each is held against the versions that git has.
 */
export async function linearRound(round: LinearRound): Promise<LinearFinding> {
  const { storeDir, folder, clients, pushers, runFor, database, fault } = round
  const folders = numbers(round.servers).map((number) =>
    database === undefined ? storeDir : `${storeDir}-${number}`,
  )
  const servers = await Promise.all(
    folders.map((it, number) =>
      startBranchpoint(
        it,
        database === undefined ? {} : { STORE: database(number), CACHE_DIR: it, READS: round.reads ?? '' },
      ),
    ),
  )
  const urls = servers.map(({ url }) => url)
  const recorder = new Recorder()
  const problems: string[] = []
  let unavailable = 0
  try {
    const artifacts = await prepare(urls[0] ?? '')
    const shared = { urls, artifacts, environments: ENVIRONMENTS, recorder }
    const restClients = numbers(clients).map((number) => new RestClient(shared, `client-${number}`))
    // They go on reading where all others wait for what they write.
    const readers = fault ? numbers(READERS).map((number) => new RestClient(shared, `reader-${number}`)) : []
    const gitClients: Pusher[] = []
    for (const number of numbers(pushers)) {
      const name = `pusher-${number}`
      const url = urls[number % urls.length] ?? ''
      const pusher = new Pusher({ url, slug: SLUGS[0], recorder, folder: join(folder, name), name })
      await pusher.begin()
      gitClients.push(pusher)
    }
    let until = Date.now() + runFor
    const work = async (step: () => Promise<void>, least: number): Promise<void> => {
      for (let steps = 0; steps < least || Date.now() < until; steps++) {
        try {
          await step()
        } catch (error) {
          if (error instanceof Unavailable && fault) unavailable++
          else problems.push(String(error))
        }
      }
    }
    const breakIt = async (broken: Fault): Promise<void> => {
      until = Infinity
      await pause(runFor / 2)
      await broken.begin(servers)
      until = Date.now() + runFor / 2
    }
    await Promise.all([
      fault && breakIt(fault),
      ...restClients.map((client) => work(() => client.step(), fault ? 0 : LEAST_STEPS)),
      ...readers.map((client) => work(() => client.look(), 0)),
      ...gitClients.map((client) => work(() => client.step(), 0)),
    ])
    await fault?.end()
    // Each takes in what the others wrote last.
    for (const url of urls) await ask(url, 'POST', '/workflows/query', {})
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
  const registers = await registersOf(folders[0] ?? '', recorder)
  problems.push(...differencesOf(folders))
  for (const [name, register] of registers) {
    problems.push(...checkRegister(register).map((problem) => `${name}: ${problem}`))
  }
  return { registers, unavailable, problems }
}

/** So much does each client that is no pusher, however long it takes: too short a history proves nothing. One with a fault is longer than that. */
const LEAST_STEPS = 30

/** So many clients read only, where something goes wrong. */
const READERS = 4

const SLUGS = ['busy', 'other'] as const
const ENVIRONMENTS = ['staging', 'production'] as const

/** Two applications of two revisions, each deployed to both environments, so that there is always something to retrieve. */
async function prepare(url: string): Promise<{ readonly slug: string; readonly variant: string }[]> {
  const artifacts = []
  for (const slug of SLUGS) {
    const { application } = await ask<{ application: { variant_id: string } }>(
      url,
      'POST',
      '/simple/applications',
      { application: { slug, data: { parameters: { token: '' } } } },
    )
    // A first revision has no message, by which versions are known here.
    await ask(url, 'POST', '/applications/revisions/commit', {
      application_revision_commit: {
        application_variant_id: application.variant_id,
        message: 'To begin with',
        data: { parameters: { token: '' } },
      },
    })
    for (const environment of ENVIRONMENTS) {
      await ask(url, 'POST', '/applications/revisions/deploy', {
        application_ref: { slug },
        environment_ref: { slug: environment },
        message: `${slug} to begin with`,
      })
    }
    artifacts.push({ slug, variant: application.variant_id })
  }
  return artifacts
}

async function registersOf(storeDir: string, recorder: Recorder): Promise<Map<string, Register>> {
  const registers = new Map<string, Register>()
  const project = join(storeDir, 'default')
  for (const slug of SLUGS) {
    const versions = await variantVersions(join(project, 'workflows', `${slug}.git`), slug)
    registers.set(slug, { versions, before: 2, operations: recorder.of(slug) })
  }
  for (const slug of ENVIRONMENTS) {
    const versions = await environmentVersions(join(project, 'environments', `${slug}.git`), slug)
    registers.set(`@${slug}`, { versions, before: SLUGS.length, operations: recorder.of(`@${slug}`) })
  }
  return registers
}

/** Where the folders of several servers do not have the same refs. */
function differencesOf(folders: readonly string[]): string[] {
  const [first, ...others] = folders.map(refsIn)
  return others.flatMap((refs, number) =>
    refs === first ? [] : [`the folders of servers 1 and ${number + 2} differ:\n${first}\n${refs}`],
  )
}

function refsIn(storeDir: string): string {
  const paths = [
    ...SLUGS.map((slug) => `workflows/${slug}`),
    ...ENVIRONMENTS.map((slug) => `environments/${slug}`),
  ]
  return paths.map((path) => git(join(storeDir, 'default', `${path}.git`), ['for-each-ref'])).join('\n')
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}

const run = promisify(execFile)

/** The versions of a variant, oldest first, as the git program lists them: each holds its `message`. */
async function variantVersions(repository: string, branch: string): Promise<Version[]> {
  const lines = await log(repository, branch, '%s')
  return lines.map((subject) => ({ token: subject, values: new Map([['message', subject]]) }))
}

/** The versions of an environment, oldest first: each holds the id of the deployed revision by key. */
async function environmentVersions(repository: string, branch: string): Promise<Version[]> {
  const trailer = (name: string): string => `%(trailers:key=${name},valueonly,separator=%x2C)`
  const lines = await log(repository, branch, `%s%x09${trailer('Deploy-Key')}%x09${trailer('Deploy-To')}`)
  let values: ReadonlyMap<string, string> = new Map()
  return lines.map((line) => {
    const [subject = '', key = '', target = ''] = line.split('\t')
    values = new Map([...values, [key, target.split(' ').at(-1) ?? '']])
    return { token: subject, values }
  })
}

async function log(repository: string, branch: string, format: string): Promise<string[]> {
  const args = [
    '-C',
    repository,
    'log',
    '--first-parent',
    '--reverse',
    `--format=${format}`,
    `refs/heads/${branch}`,
  ]
  const { stdout } = await run('git', args, { maxBuffer: 256 * 1024 * 1024 })
  return stdout.split('\n').slice(0, -1)
}
