import { resolve } from 'node:path'
import type { ParameterizedContext } from 'koa'
import { Refusal } from '../../errors.ts'
import { uploadPack } from '../../git/process/upload-pack.ts'
import type { ArtifactView } from '../../versioning/artifacts/artifact-view.ts'
import { inflatedBody } from '../body/inflate-body.ts'
import { clientAbort } from '../routing/client-abort.ts'
import { spooled } from '../body/spool.ts'
import type { GitRoom } from './git-room.ts'
import { FLUSH, pktLine } from './pkt-line.ts'

/** What a client says it has and wants takes fifty bytes an object. */
const LONGEST_NEGOTIATION = 64 * 1024 * 1024

/**
 * Answers a clone or fetch, or what comes before one, with what the git program says, while it says it. Git is at work from when all of
 * the request is there until the answer has left or the client has gone.
 */
export async function respondToFetch(
  ctx: ParameterizedContext<unknown>,
  artifact: ArtifactView,
  isAdvertisement: boolean,
  { spools, acquire }: GitRoom,
): Promise<void> {
  const signal = clientAbort(ctx.res)
  const spool = spools.open({ inMemory: true })
  let release: (() => void) | undefined
  const over = (): void => {
    release?.()
    spool.discard()
  }
  try {
    const asked = isAdvertisement
      ? undefined
      : await spooled(spool, inflatedBody(ctx.req, LONGEST_NEGOTIATION, tooLong))
    release = await acquire(signal)
    const protocol = protocolOf(ctx.get('Git-Protocol'))
    const { path } = artifact.repository
    const { output, ended } = await uploadPack(path, { input: asked?.chunks(), protocol, signal })
    ctx.type = `application/x-git-upload-pack-${isAdvertisement ? 'advertisement' : 'result'}`
    if (output.readableLength === 0) {
      output.resume()
      const { code, complaint } = await ended
      if (code !== 0) {
        ctx.body = await answerOfFailure(artifact, complaint, { isAdvertisement, signal })
        over()
        return
      }
    }
    ended.then(over, over)
    // As git's own server has it: version 2 says what it is itself.
    const isNamed = isAdvertisement && !protocol?.split(':').includes('version=2')
    if (isNamed) output.unshift(SERVICE_NAME)
    // Destroyed, and git ended, when the client goes.
    ctx.body = output
  } catch (error) {
    over()
    throw error
  }
}

/** What git says of a request that it cannot read. */
const MISREAD =
  /protocol error|hung up unexpectedly|unknown capability|unknown object format|invalid command|unexpected (line: '|argument|flush)|expected flush/

/** What git says of objects that are not there or not whole. */
const DAMAGED =
  /corrupt|bad object|unable to (read|open|parse)|could not (read|open|parse)|missing (blob|tree|commit|object)|not a git repo/i

/** What the client is told when git ended before it answered: a line of git's for its terminal, if what it asked for cannot be. */
async function answerOfFailure(
  { repository, family, slug }: ArtifactView,
  complaint: string,
  { isAdvertisement, signal }: { readonly isAdvertisement: boolean; readonly signal: AbortSignal },
): Promise<Buffer> {
  const name = `${family.folder}/${slug}`
  const said = complaint
    .replaceAll(resolve(repository.path), name)
    .replaceAll(repository.path, name)
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, 500)
  if (MISREAD.test(complaint)) {
    throw new Refusal(
      'contradictory_request',
      `The request cannot be read: ${said}. Use git clone or git fetch.`,
    )
  }
  // Where git can show its refs and misses no object, it is what was asked for that cannot be.
  if (!isAdvertisement && !DAMAGED.test(complaint) && (await canAdvertise(repository.path, signal)))
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

/** Only what the protocol may say reaches the program's environment. */
function protocolOf(header: string): string | undefined {
  return /^[a-z0-9=:.-]{1,200}$/i.test(header) ? header : undefined
}

function tooLong(): Refusal {
  return new Refusal('body_too_large', 'The client lists more objects than anybody has. Clone anew.')
}
