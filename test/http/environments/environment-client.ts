import { expect } from 'chai'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../../support/git/git-program.ts'
import type { Reply, RunningService, ServiceOptions } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import type { Scope } from '../../../src/access/keys/scope.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import type { Made } from '../conformance/surface-client.ts'
import { SurfaceClient } from '../conformance/surface-client.ts'
import { testedSurfaces } from '../conformance/tested-surface.ts'

/** Tests look into records freely; the harness has held each against its schema. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Found = any

/** The surfaces whose revisions are deployed. */
export const deployedSurfaces = testedSurfaces.filter(({ family }) => family.folder === 'workflows')

/** An environment with its variant. */
export interface MadeEnvironment {
  readonly id: string
  readonly slug: string
  readonly variantId: string
}

/** A service with what tests of environments do all the time; every method that answers no `Reply` expects a 200. */
export interface EnvironmentClient {
  /** The running service: another one after `restart`. */
  readonly service: RunningService
  readonly applications: SurfaceClient
  surface(singular: string): SurfaceClient
  /** An application with so many revisions. */
  application(revisions?: number, more?: object): Promise<Made>
  /** A new environment with a variant and no revision. */
  environment(more?: object): Promise<MadeEnvironment>
  /** Deploys to an environment by its slug, as an application unless another singular is said. */
  deploy(to: string, body: object, headers?: Readonly<Record<string, string>>): Promise<Reply>
  deployed(to: string, body: object): Promise<Found>
  commit(to: MadeEnvironment, fields: object, headers?: Readonly<Record<string, string>>): Promise<Reply>
  committed(to: MadeEnvironment, fields: object): Promise<Found>
  /** The latest revision of an environment, undefined if it has none. */
  latest(slug: string): Promise<Found>
  /** Its pins; empty if it has no revision. */
  pins(slug: string): Promise<Found>
  /** The application revision that a request through an environment gets. */
  retrieve(body: object): Promise<Reply>
  retrieved(body: object): Promise<Found>
  /** Headers of a new key with these scopes. */
  keyOf(...scopes: readonly Scope[]): Promise<Record<string, string>>
  /** Runs git in the repository of an environment. */
  git(slug: string, ...args: readonly string[]): string
  /** Runs git in the repository of an application. */
  gitOf(slug: string, ...args: readonly string[]): string
  /** The commit of an application that an environment's mirror names; undefined if there is no mirror. */
  mirror(application: string, environment: string): string | undefined
  /** Commits a map of pins to the environment's default branch with git alone. */
  deployByGit(slug: string, references: object): void
  /** Every ref of every repository, which a refused request leaves alone. */
  refs(): string[]
  /** Stops the server, lets `meanwhile` work on the store, and starts another. */
  restart(meanwhile?: () => void): Promise<void>
  stop(): Promise<void>
}

/** Starts the service for a `describe`. */
export async function startEnvironments(options: ServiceOptions = {}): Promise<EnvironmentClient> {
  let service = await startService(options)
  const clients = new Map(
    deployedSurfaces.map((surface) => [surface.singular, new SurfaceClient(surface, () => service)]),
  )
  let environments = 0
  let keys = 0

  const surface: EnvironmentClient['surface'] = (singular) => clients.get(singular) ?? expect.fail(singular)
  const body = async (reply: Promise<Reply>): Promise<Found> => {
    const { status, text, body: answer } = await reply
    expect(status, text).to.equal(200)
    return answer
  }
  const deploy: EnvironmentClient['deploy'] = (slug, more, headers) =>
    service.post('/applications/revisions/deploy', { environment_ref: { slug }, ...more }, headers)
  const commit: EnvironmentClient['commit'] = ({ variantId }, fields, headers) =>
    service.post(
      '/environments/revisions/commit',
      { environment_revision_commit: { environment_variant_id: variantId, ...fields } },
      headers,
    )
  const latest: EnvironmentClient['latest'] = async (slug) => {
    const reply = await service.post('/environments/revisions/retrieve', { environment_ref: { slug } })
    if (reply.body.code === 'revision_not_found') return undefined
    return (await body(Promise.resolve(reply))).environment_revision
  }
  const retrieve: EnvironmentClient['retrieve'] = (references) =>
    service.post('/applications/revisions/retrieve', references)
  const gitOf: EnvironmentClient['gitOf'] = (slug, ...args) => git(service.repository(slug), args)

  return {
    get service() {
      return service
    },
    applications: surface('application'),
    surface,
    application: (revisions = 1, more = {}) => surface('application').made(revisions, more),
    environment: async (more = {}) => {
      const sent = { slug: `place_${++environments}`, ...more }
      const { environment } = await body(service.post('/simple/environments/', { environment: sent }))
      return { id: environment.id, slug: environment.slug, variantId: environment.variant_id }
    },
    deploy,
    deployed: async (slug, more) => (await body(deploy(slug, more))).application_revision,
    commit,
    committed: async (to, fields) => (await body(commit(to, fields))).environment_revision,
    latest,
    pins: async (slug) => (await latest(slug))?.data.references ?? {},
    retrieve,
    retrieved: async (references) => (await body(retrieve(references))).application_revision,
    keyOf: async (...scopes) => {
      const wanted = { project: 'default', name: `key ${++keys}`, scopes }
      const { token } = await createApiKey(nodeFs, service.storeDir, wanted)
      return { authorization: `ApiKey ${token}` }
    },
    git: (slug, ...args) => git(service.repository(slug, 'environments'), args),
    gitOf,
    mirror: (application, environment) => {
      const ref = `refs/environments/${environment}`
      const oid = gitOf(application, 'for-each-ref', '--format=%(objectname)', ref)
      return oid === '' ? undefined : oid
    },
    deployByGit: (slug, references) => {
      const folder = service.repository(slug, 'environments')
      const blob = git(folder, ['hash-object', '-w', '--stdin'], JSON.stringify(references))
      const tree = git(folder, ['mktree'], `100644 blob ${blob}\treferences.json\n`)
      const branch = git(folder, ['symbolic-ref', 'HEAD'])
      const head = git(folder, ['for-each-ref', '--format=%(objectname)', branch])
      const parents = head === '' ? [] : ['-p', head]
      const commit = git(folder, ['commit-tree', tree, ...parents, '-m', 'Deployed with git'])
      git(folder, ['update-ref', branch, commit])
    },
    refs: () => refsIn(service.storeDir),
    restart: async (meanwhile) => {
      await service.stop({ keepStore: true })
      meanwhile?.()
      service = await startService({ ...options, storeDir: service.storeDir })
    },
    stop: () => service.stop(),
  }
}

/** The first digits of the commit that an id names. */
export function digitsOf(id: string): string {
  return id.replaceAll('-', '').slice(0, 12)
}

/** Resolves once `isSo`, and fails after half a minute in which it never was. */
export async function eventually(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const until = Date.now() + 30_000
  while (!(await isSo())) {
    if (Date.now() > until) expect.fail(`not in time: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function refsIn(storeDir: string): string[] {
  return readdirSync(join(storeDir, 'default'), { withFileTypes: true })
    .filter((folder) => folder.isDirectory() && folder.name !== 'idempotency')
    .flatMap(({ name }) => readdirSync(join(storeDir, 'default', name)).map((slug) => join(name, slug)))
    .flatMap((path) => {
      const repository = join(storeDir, 'default', path)
      const below = readdirSync(join(repository, 'refs'), { recursive: true, encoding: 'utf8' })
      return ['HEAD', 'packed-refs', ...below.map((name) => `refs/${name}`)].map((name) =>
        join(repository, name),
      )
    })
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
    .map((path) => `${path} ${readFileSync(path, 'utf8')}`)
    .sort()
}
