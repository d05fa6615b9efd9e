import type { Middleware, ParameterizedContext } from 'koa'
import { type Authenticate, type Caller, requireScope } from '../../access/keys.ts'
import { Refusal } from '../../errors.ts'
import type { Semaphore } from '../../base/scheduling.ts'
import { type ArtifactView, saidTrashed } from '../../registry/artifacts.ts'
import type { Registry } from '../../registry/registries.ts'
import { type Spools, spooled } from '../body/spool.ts'
import { methodNotAllowed } from '../routing/not-found.ts'
import {
  type AuthenticatedContext,
  BASIC,
  keyOrPasswordIn,
  type RequestState,
  setCaller,
} from '../request.ts'
import { type PushSettings, respondToPush } from './answer-push.ts'
import { acquireForGit, type GitRoom } from './git-room.ts'
import { FLUSH, pktLine } from './pkt-line.ts'
import { resolve } from 'node:path'
import { copyToDisk, type DiskCopy, uploadPack } from '../../git/program.ts'
import { inflatedBody } from '../body/inflate-body.ts'
import { clientAbort } from '../routing/client-abort.ts'

export interface GitSmartHttpDependencies {
  readonly authenticate: Authenticate
  /** As much of the key's project as the key sees. */
  readonly registryOf: (caller: Caller) => Promise<Registry>
  /** Permits for concurrent clones, fetches and pushes. */
  readonly permits: Semaphore
  /** Stores a client's data until all of it has arrived. */
  readonly spools: Spools
  readonly push: PushSettings
}

/**
 * git over HTTP (gitprotocol-http(5), only the smart protocol): every artifact at `/git/<family>/<slug>.git`, in the key's project. Handles
 * the paths below `/git/`.
 */
export function gitSmartHttp(dependencies: GitSmartHttpDependencies): Middleware<RequestState> {
  return (ctx) => {
    ctx.state.challenge = BASIC
    ctx.state.isTerminal = ctx.req.headers['user-agent']?.startsWith('git/') ?? false
    setCaller(ctx, dependencies.authenticate, keyOrPasswordIn)
    return answer(ctx, dependencies)
  }
}

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
  const registry = await registryOf(caller)
  const family = registry.families.find((it) => it.folder === folder)
  // A key that may neither read nor write must not learn what exists.
  requireScope(caller, service === UPLOAD ? ['read'] : family?.pins ? ['write', 'deploy'] : ['write'])
  const artifact = family && (await registry.index.findBySlug(family, slug))
  if (!artifact) {
    const trashed = family && (await registry.trash.holderOf('artifact', family, slug))
    throw saidTrashed(notFound(ctx.path), trashed)
  }
  if (artifact.whole) {
    throw new Refusal(
      'outside_folders',
      'This key is limited to folders, and a repository of an environment tells of all that was ever deployed there. Ask over REST.',
    )
  }
  const isAdvertisement = path === 'info/refs'
  const acquire = (signal: AbortSignal) => acquireForGit(permits, caller.project, signal)
  const room = { spools, acquire }
  // Results of evaluations may be of rows and evaluators that the key does not see.
  const hidden = registry.limit ? 'refs/notes/evaluations' : undefined
  if (service === UPLOAD) return respondToFetch(ctx, artifact, { isAdvertisement, hidden }, room)
  if (isAdvertisement) return advertisePush(ctx, artifact)
  return respondToPush(ctx, registry, artifact, room, push)
}

const REPOSITORY = /^\/git\/([^/]+)\/([^/]+)\.git\/(.+)$/
const UPLOAD = 'git-upload-pack'
const RECEIVE = 'git-receive-pack'

/** The service of a path below a repository; refuses other paths than the three of the smart protocol. */
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

/**
 * The advertisement before a push (gitprotocol-http(5), gitprotocol-pack(5)): branches and tags, which are all that can be pushed, and the
 * supported capabilities. `delete-refs` is among them so that our own sentence refuses a deletion.
 */
function pushAdvertisement({ source }: ArtifactView): Buffer {
  const refs = [...source.refs.refs]
    .filter(([ref]) => ref.startsWith('refs/heads/') || ref.startsWith('refs/tags/'))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const [first = ['capabilities^{}', '0'.repeat(40)], ...others] = refs
  return Buffer.concat([
    pktLine('# service=git-receive-pack\n'),
    FLUSH,
    pktLine(`${first[1]} ${first[0]}\0${CAPABILITIES.join(' ')}\n`),
    ...others.map(([ref, oid]) => pktLine(`${oid} ${ref}\n`)),
    FLUSH,
  ])
}

const CAPABILITIES = [
  'report-status',
  'delete-refs',
  'side-band-64k',
  'quiet',
  'atomic',
  'ofs-delta',
  'object-format=sha1',
  'agent=branchpoint',
]

/** A client's list of wanted and existing objects takes fifty bytes per object. */
const LONGEST_NEGOTIATION = 64 * 1024 * 1024

/** Whether refs are listed, or objects sent; and which refs are left out. */
interface Fetching {
  readonly isAdvertisement: boolean
  readonly hidden: string | undefined
}

/**
 * Answers a clone or fetch, or its advertisement, by streaming the git program's output. Git runs from the arrival of the whole request
 * until the answer was sent or the client is gone.
 */
async function respondToFetch(
  ctx: ParameterizedContext<unknown>,
  artifact: ArtifactView,
  { isAdvertisement, hidden }: Fetching,
  { spools, acquire }: GitRoom,
): Promise<void> {
  const signal = clientAbort(ctx.res)
  const spool = spools.open({ inMemory: true })
  const { fs } = artifact.repository
  let copy: DiskCopy | undefined
  let release: (() => void) | undefined
  const over = (): void => {
    release?.()
    copy?.discard()
    spool.discard()
  }
  try {
    const asked = isAdvertisement
      ? undefined
      : await spooled(spool, inflatedBody(ctx.req, LONGEST_NEGOTIATION, tooLong))
    release = await acquire(signal)
    const protocol = protocolOf(ctx.get('Git-Protocol'))
    if (!fs.isSeenByOthers) copy = copyToDisk(fs, artifact.repository.path)
    const path = copy?.path ?? artifact.repository.path
    const { output, ended } = await uploadPack(path, { input: asked?.chunks(), protocol, signal, hidden })
    ctx.type = `application/x-git-upload-pack-${isAdvertisement ? 'advertisement' : 'result'}`
    if (output.readableLength === 0) {
      output.resume()
      const { code, complaint } = await ended
      if (code !== 0) {
        ctx.body = await answerOfFailure(artifact, complaint, { path, isAdvertisement, signal })
        over()
        return
      }
    }
    ended.then(over, over)
    // As git's own server does: version 2 names the service itself.
    const isNamed = isAdvertisement && !protocol?.split(':').includes('version=2')
    if (isNamed) output.unshift(SERVICE_NAME)
    // Destroyed, and git ended, when the client disconnects.
    ctx.body = output
  } catch (error) {
    over()
    throw error
  }
}

/** Git's messages about a malformed request. */
const MISREAD =
  /protocol error|hung up unexpectedly|unknown capability|unknown object format|invalid command|unexpected (line: '|argument|flush)|expected flush/

/** Git's messages about missing or damaged objects. */
const DAMAGED =
  /corrupt|bad object|unable to (read|open|parse)|could not (read|open|parse)|missing (blob|tree|commit|object)|not a git repo/i

/** The answer if git ended before it answered: a message in git's format for the terminal, if the requested objects are not available. */
async function answerOfFailure(
  { family, slug }: ArtifactView,
  complaint: string,
  { path, isAdvertisement, signal }: { path: string; isAdvertisement: boolean; signal: AbortSignal },
): Promise<Buffer> {
  const name = `${family.folder}/${slug}`
  const said = complaint
    .replaceAll(resolve(path), name)
    .replaceAll(path, name)
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, 500)
  if (MISREAD.test(complaint)) {
    throw new Refusal(
      'contradictory_request',
      `The request cannot be read: ${said}. Use git clone or git fetch.`,
    )
  }
  // If git can list the refs and misses no object, the request itself is invalid.
  if (!isAdvertisement && !DAMAGED.test(complaint) && (await canAdvertise(path, signal)))
    return pktLine(
      `ERR git cannot answer this fetch: ${said.replace(/^fatal: /, '')}. Ask for what ${name} has.`,
    )
  throw new Refusal(
    'damaged_repository',
    `git cannot read ${name}: ${said}. Run git fsck in its repository, and put a clone or a backup of it in its place.`,
  )
}

async function canAdvertise(path: string, signal: AbortSignal): Promise<boolean> {
  const { output, ended } = await uploadPack(path, { input: undefined, protocol: undefined, signal })
  output.resume()
  return (await ended).code === 0
}

const SERVICE_NAME = Buffer.concat([pktLine('# service=git-upload-pack\n'), FLUSH])

/** Only valid values of the protocol reach the program's environment. */
function protocolOf(header: string): string | undefined {
  return /^[a-z0-9=:.-]{1,200}$/i.test(header) ? header : undefined
}

function tooLong(): Refusal {
  return new Refusal('body_too_large', 'The client lists more objects than anybody has. Clone anew.')
}
