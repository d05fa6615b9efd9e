import type { Middleware } from 'koa'
import type { Authenticate } from '../../access/authenticator.ts'
import { requireScope } from '../../access/require-scope.ts'
import { Refusal } from '../../errors.ts'
import type { Semaphore } from '../../scheduling/semaphore.ts'
import type { ArtifactView } from '../../versioning/artifacts/artifact-view.ts'
import type { Registry } from '../../versioning/registry.ts'
import { saidTrashed } from '../../versioning/trash/trash.ts'
import type { Spools } from '../body/spool.ts'
import { setCaller } from '../middleware/authenticate.ts'
import { methodNotAllowed } from '../middleware/not-found.ts'
import type { AuthenticatedContext, RequestState } from '../request-state.ts'
import { respondToFetch } from './answer-fetch.ts'
import type { PushSettings } from './answer-push.ts'
import { respondToPush } from './answer-push.ts'
import { acquireForGit } from './git-room.ts'
import { gitToken } from './git-token.ts'
import { pushAdvertisement } from './push-advertisement.ts'

export interface GitSmartHttpDependencies {
  readonly authenticate: Authenticate
  readonly registryOf: (project: string) => Registry | Promise<Registry>
  /** For the clones, fetches and pushes that are worked on at once. */
  readonly permits: Semaphore
  /** Where what a client sends is kept until all of it is there. */
  readonly spools: Spools
  readonly push: PushSettings
}

/**
 * git over HTTP (gitprotocol-http(5), the smart one only): every artifact at `/git/<family>/<slug>.git`, in the project of the
 * key. To be asked before the routes of the REST interface.
 */
export function gitSmartHttp(dependencies: GitSmartHttpDependencies): Middleware<RequestState> {
  return (ctx, next) => {
    if (!ctx.path.startsWith('/git/')) return next()
    ctx.state.challenge = CHALLENGE
    ctx.state.isTerminal = ctx.req.headers['user-agent']?.startsWith('git/') ?? false
    setCaller(ctx, dependencies.authenticate, gitToken)
    return answer(ctx, dependencies)
  }
}

const CHALLENGE = 'Basic realm="Branchpoint", charset="UTF-8"'

async function answer(
  ctx: AuthenticatedContext,
  { registryOf, permits, spools, push }: GitSmartHttpDependencies,
): Promise<void> {
  const [, folder = '', slug = '', path = ''] = REPOSITORY.exec(ctx.path) ?? []
  const service = serviceOf(ctx, path)
  ctx.set('Cache-Control', 'no-cache, max-age=0, must-revalidate')
  ctx.state.isRead = service === UPLOAD
  ctx.state.route = `/git/:family/:slug.git/${path}`
  const { caller } = ctx.state
  const registry = await registryOf(caller.project)
  const family = registry.families.find((it) => it.folder === folder)
  // Who may neither read nor write learns nothing of what there is.
  requireScope(caller, service === UPLOAD ? ['read'] : family?.pins ? ['write', 'deploy'] : ['write'])
  if (!registry.store.fs.isSeenByOthers) throw new Refusal('storage_unavailable', IN_MEMORY)
  const artifact = family && (await registry.index.findBySlug(family, slug))
  if (!artifact) {
    const trashed = family && (await registry.trash.holderOf('artifact', family, slug))
    throw saidTrashed(notFound(ctx.path), trashed)
  }
  const isAdvertisement = path === 'info/refs'
  const acquire = (signal: AbortSignal) => acquireForGit(permits, caller.project, signal)
  const room = { spools, acquire }
  if (service === UPLOAD) return respondToFetch(ctx, artifact, isAdvertisement, room)
  if (isAdvertisement) return advertisePush(ctx, artifact)
  return respondToPush(ctx, registry, artifact, room, push)
}

const REPOSITORY = /^\/git\/([^/]+)\/([^/]+)\.git\/(.+)$/
const IN_MEMORY =
  'This server keeps its store in memory, where the git program cannot see it: there is no clone, fetch or push. Use the REST ' +
  'interface, or start the server with STORE_DIR set to a folder.'
const UPLOAD = 'git-upload-pack'
const RECEIVE = 'git-receive-pack'

/** What a path below a repository is for; refuses what is none of the three of the smart protocol. */
function serviceOf(ctx: AuthenticatedContext, path: string): string {
  if (path === 'info/refs') {
    if (ctx.method !== 'GET') throw methodNotAllowed(ctx.method, ctx.path, ['GET'])
    const service = new URLSearchParams(ctx.querystring).get('service')
    if (service === UPLOAD || service === RECEIVE) return service
    throw new Refusal(
      'smart_protocol_only',
      'Only the smart protocol is spoken here, which every git since 1.6.6 knows: ask for ' +
        'info/refs?service=git-upload-pack, or use git clone.',
    )
  }
  if (path !== UPLOAD && path !== RECEIVE) throw notFound(ctx.path)
  if (ctx.method !== 'POST') throw methodNotAllowed(ctx.method, ctx.path, ['POST'])
  const type = `application/x-${path}-request`
  if (ctx.req.headers['content-type'] === type) return path
  throw new Refusal('unsupported_media_type', `${ctx.path} takes what a git client sends, as ${type}.`)
}

function notFound(path: string): Refusal {
  return new Refusal(
    'artifact_not_found',
    `There is no repository ${path.slice(0, 200)} in the project of this key. They are at /git/<family>/<slug>.git, as the ` +
      `git_url of each artifact says.`,
  )
}

function advertisePush(ctx: AuthenticatedContext, artifact: ArtifactView): void {
  ctx.type = 'application/x-git-receive-pack-advertisement'
  ctx.body = pushAdvertisement(artifact)
}
