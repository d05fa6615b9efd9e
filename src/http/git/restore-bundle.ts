import type { Middleware } from 'koa'
import { resolve } from 'node:path/posix'
import { type Authenticate, type Caller, requireScope } from '../../access/keys.ts'
import { Refusal, invalid } from '../../errors.ts'
import { bundleRefs, GitFailure } from '../../git/program.ts'
import { type Fs, identityName, thisProcess } from '../../storage/files.ts'
import { META_REF, restoreArtifact, slugProblem } from '../../registry/artifacts.ts'
import type { PushLimits } from '../../registry/push.ts'
import type { Registry } from '../../registry/registries.ts'
import { inflatedBody } from '../body/inflate-body.ts'
import type { Spools } from '../body/spool.ts'
import {
  type AuthenticatedContext,
  keyOrPasswordIn,
  type RequestContext,
  type RequestState,
  setCaller,
} from '../request.ts'
import { clientAbort } from '../routing/client-abort.ts'

export interface RestoreBundleDependencies {
  readonly authenticate: Authenticate
  readonly registryOf: (caller: Caller) => Promise<Registry>
  readonly fs: Fs
  /** The folder for received bundles, and its limit. */
  readonly folder: string
  readonly spools: Spools
  /** Maximum bytes of a bundle. */
  readonly maxBytes: number
  readonly limits: PushLimits
}

/**
 * `PUT /git/<family>/<slug>.git?head=refs/heads/<branch>`: restores a whole repository, with every ref, from the git bundle in the body
 * (branchpoint restore). It includes records and deployments unchanged, so it needs the scope admin. Other requests go to the next
 * middleware.
 */
export function restoreBundle(dependencies: RestoreBundleDependencies): Middleware<RequestState> {
  return (ctx, next) => {
    const [, folder, slug] = (ctx.method === 'PUT' && REPOSITORY.exec(ctx.path)) || []
    return folder === undefined || slug === undefined ? next() : answer(ctx, folder, slug)
  }

  async function answer(ctx: RequestContext, folder: string, slug: string): Promise<void> {
    ctx.state.route = '/git/:family/:slug.git'
    try {
      setCaller(ctx, dependencies.authenticate, keyOrPasswordIn)
      await restore(ctx, folder, slug, dependencies)
    } finally {
      // Discards the unread rest, so that the client reads the refusal.
      ctx.req.resume()
    }
  }
}

const REPOSITORY = /^\/git\/([^/]+)\/([^/]+)\.git$/

async function restore(
  ctx: AuthenticatedContext,
  folder: string,
  slug: string,
  { registryOf, fs, folder: uploads, spools, maxBytes, limits }: RestoreBundleDependencies,
): Promise<void> {
  const { caller } = ctx.state
  requireScope(caller, ['admin'])
  if (!fs.isSeenByOthers) {
    throw new Refusal(
      'storage_unavailable',
      'This store is in memory, which takes no bundles. Push to a new artifact, or restore to a store on a disk.',
    )
  }
  const registry = await registryOf(caller)
  const family = registry.families.find((it) => it.folder === folder)
  if (!family) throw new Refusal('route_not_found', `There is no family "${folder.slice(0, 100)}".`)
  const problem = slugProblem(slug)
  if (problem !== undefined) throw invalid(['path', 'slug'], problem)
  const head = new URLSearchParams(ctx.querystring).get('head') ?? ''
  const branch = head.startsWith(HEADS) ? head.slice(HEADS.length) : ''
  if (slugProblem(branch) !== undefined)
    throw invalid(['query', 'head'], `"${head.slice(0, 100)}" is not refs/heads/ and a variant's slug`)
  const path = resolve(uploads, `${identityName(thisProcess())}.bundle-${++bundles}`)
  fs.makeDir(uploads)
  const share = spools.share()
  let bytes = 0
  try {
    const log = fs.createLog(path)
    try {
      for await (const chunk of inflatedBody(ctx.req, maxBytes, () => tooLarge(maxBytes))) {
        share.hold((bytes += chunk.length))
        log.append(chunk)
      }
    } finally {
      log.close()
    }
    const refs = bundleRefs(fs, path)
    if (!refs.has(META_REF))
      throw new Refusal('invalid_file', `The bundle has no ${META_REF}, so it is no artifact of a registry.`)
    const copy = { refs: { refs, head: `ref: ${head}` }, source: { url: path }, signal: clientAbort(ctx.res) }
    const outcome = await restoreArtifact(registry, { family, slug, limits, ...copy })
    ctx.body = { count: 1, outcome }
  } catch (error) {
    throw error instanceof GitFailure
      ? new Refusal(
          'invalid_file',
          `git does not accept the bundle: ${error.message}. Check the backup with git fsck.`,
        )
      : error
  } finally {
    share.hold(0)
    fs.remove(path)
  }
}

const HEADS = 'refs/heads/'
let bundles = 0

function tooLarge(maxBytes: number): Refusal {
  return new Refusal(
    'limit_exceeded',
    `The bundle is larger than ${maxBytes} bytes. Restore it into the store's folder, or ask the operator for a higher limit.`,
    { details: { limit: maxBytes } },
  )
}
