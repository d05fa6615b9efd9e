import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type ChildServer, startBranchpoint } from '../../test/support/servers/child-server.ts'
import { type PostgresPair, startPair } from '../../test/support/postgres/postgres.ts'
import { Balancer } from './balancer.ts'
import type { Order } from './cluster-options.ts'

/** So long (milliseconds) after the primary ended, the standby is promoted: what Patroni does once it believes it. */
const UNTIL_PROMOTED = 1000

/** A server of the cluster, with a folder that stays while its process comes and goes. */
interface Member {
  readonly folder: string
  /** Where it listens, from its first start on. */
  url: string | undefined
  /** Absent while it does not run. */
  server: ChildServer | undefined
  isPaused: boolean
}

/** Several servers over one database, which is a primary with a synchronous standby. */
export class Cluster {
  readonly key = `cluster-${randomBytes(12).toString('hex')}`
  readonly #folder = mkdtempSync(join(tmpdir(), 'branchpoint-cluster-'))
  readonly #pair: PostgresPair
  readonly #members: Member[]
  readonly #say: (line: string) => void
  readonly #secretsKey = randomBytes(32).toString('base64')
  readonly #database: string
  readonly #balancer: Balancer
  #isPromoted = false

  private constructor(
    pair: PostgresPair,
    database: string,
    balancer: Balancer,
    servers: number,
    say: (line: string) => void,
  ) {
    this.#pair = pair
    this.#database = database
    this.#balancer = balancer
    this.#say = say
    this.#members = Array.from({ length: servers }, (_, at) => ({
      folder: join(this.#folder, `server-${at + 1}`),
      url: undefined,
      server: undefined,
      isPaused: false,
    }))
  }

  /** Resolves once every server is ready. `say` is told what goes on. */
  static async start(servers: number, say: (line: string) => void): Promise<Cluster> {
    const pair = await startPair()
    const database = new URL(await pair.primary.database()).pathname.slice(1)
    const balancer = await Balancer.start()
    const cluster = new Cluster(pair, database, balancer, servers, say)
    for (const [at, member] of cluster.#members.entries()) {
      say(`starting server ${at + 1} …`)
      await cluster.#start(member)
    }
    await balancer.serve(cluster.#members.flatMap(({ url }) => url ?? []))
    return cluster
  }

  /** The balancer's address. */
  get url(): string {
    return this.#balancer.url
  }

  /** Does what another terminal wants, and says what came of it. */
  async obey({ verb, what = '' }: Order): Promise<string> {
    if (verb === 'show') return this.#shown()
    if (what === 'primary') return this.#killPrimary()
    const member = this.#members[Number(what) - 1]
    if (!member) return `There is no server ${what}: there are ${this.#members.length}.`
    if (verb === 'start') return this.#startAgain(member, what)
    const { server } = member
    if (!server) return `Server ${what} does not run.`
    if (verb === 'pause') {
      process.kill(server.pid, 'SIGSTOP')
      member.isPaused = true
      return `Server ${what} is paused.  npm run cluster -- --start ${what}`
    }
    member.server = undefined
    await server.kill()
    return `Server ${what} is killed.  npm run cluster -- --start ${what}`
  }

  /** Ends everything, and removes its folders. */
  async stop(): Promise<void> {
    this.#balancer.stop()
    for (const { server, isPaused } of this.#members) {
      if (isPaused && server) process.kill(server.pid, 'SIGCONT')
      await server?.stop()
    }
    await this.#pair.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #start(member: Member): Promise<void> {
    const server = await startBranchpoint(member.folder, {
      PORT: member.url === undefined ? '0' : new URL(member.url).port,
      PUBLIC_URL: this.url,
      STORE: this.#pair.url(this.#database),
      CACHE_DIR: member.folder,
      SVC_API_KEY: this.key,
      SECRETS_KEY: this.#secretsKey,
    })
    member.server = server
    member.url = server.url
    while (!(await isReady(server.url))) await pause(50)
  }

  async #startAgain(member: Member, what: string): Promise<string> {
    if (member.isPaused && member.server) {
      process.kill(member.server.pid, 'SIGCONT')
      member.isPaused = false
      return `Server ${what} goes on.`
    }
    if (member.server) return `Server ${what} runs already.`
    const began = performance.now()
    await this.#start(member)
    return `Server ${what} is ready again after ${seconds(began)}.`
  }

  async #killPrimary(): Promise<string> {
    if (this.#isPromoted) return 'The primary was killed before, and what was its standby has no other one.'
    this.#isPromoted = true
    const began = performance.now()
    await this.#pair.primary.kill()
    this.#say('the primary is killed')
    await pause(UNTIL_PROMOTED)
    await this.#pair.promote()
    this.#say(`the standby is promoted, ${seconds(began)} after that`)
    const [member] = this.#members.filter(({ server, isPaused }) => server && !isPaused)
    if (!member?.url) return 'The standby is promoted. No server runs.'
    while (!(await answers(member.url, this.key))) await pause(20)
    return `The standby is promoted, and the first server answers again ${seconds(began)} after the kill.`
  }

  #shown(): string {
    const servers = this.#members.map(({ url, server, isPaused, folder }, at) => {
      const state = server ? (isPaused ? 'paused' : `pid ${server.pid}`) : 'not running'
      return `  server ${at + 1}   ${url}   ${state}   ${folder}`
    })
    const { primary, standby } = this.#pair
    return [
      `  balancer   ${this.url}`,
      ...servers,
      `  primary    ${this.#isPromoted ? 'killed' : primary.url(this.#database)}`,
      `  standby    ${standby.url(this.#database)}${this.#isPromoted ? '   promoted' : ''}`,
    ].join('\n')
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/ready`)).ok
  } catch {
    return false
  }
}

/** Whether a read that asks the database succeeds. */
async function answers(url: string, key: string): Promise<boolean> {
  const headers = { authorization: `ApiKey ${key}`, 'content-type': 'application/json' }
  try {
    return (await fetch(`${url}/workflows/query`, { method: 'POST', headers, body: '{}' })).ok
  } catch {
    return false
  }
}

function seconds(began: number): string {
  return `${((performance.now() - began) / 1000).toFixed(1)} s`
}
