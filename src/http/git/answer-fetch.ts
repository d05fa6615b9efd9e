import type { ParameterizedContext } from 'koa'
import { Refusal } from '../../errors.ts'
import { uploadPack } from '../../git/upload-pack.ts'
import type { ArtifactView } from '../../versioning/artifact-view.ts'
import { inflatedBody } from '../inflated-body.ts'
import { departure } from '../departure.ts'
import { spooled } from '../spool.ts'
import type { GitRoom } from './places.ts'
import { FLUSH, pktLine } from './pkt-line.ts'

/** What a client says it has and wants takes fifty bytes an object. */
const LONGEST_NEGOTIATION = 64 * 1024 * 1024

/**
 * Answers a clone or fetch, or what comes before one, with what the git program says, while it says it. Git is at work from when all of
 * the request is there until the answer has left or the client has gone.
 */
export async function answerFetch(
  ctx: ParameterizedContext<unknown>,
  { repository }: ArtifactView,
  isAdvertisement: boolean,
  { spools, place }: GitRoom,
): Promise<void> {
  const signal = departure(ctx.res)
  const spool = spools.open({ inMemory: true })
  let leave: (() => void) | undefined
  const over = (): void => {
    leave?.()
    spool.discard()
  }
  try {
    const asked = isAdvertisement
      ? undefined
      : await spooled(spool, inflatedBody(ctx.req, LONGEST_NEGOTIATION, tooLong))
    leave = await place(signal)
    const protocol = protocolOf(ctx.get('Git-Protocol'))
    const { output, ended } = await uploadPack(repository.path, { input: asked?.chunks(), protocol, signal })
    if (output.readableLength === 0) {
      output.resume()
      const { code, complaint } = await ended
      if (code !== 0) throw refusalOf(complaint, repository.path)
    }
    ended.then(over, over)
    ctx.type = `application/x-git-upload-pack-${isAdvertisement ? 'advertisement' : 'result'}`
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

/** What git says of a request that it cannot read; of anything else that stops it before it answers, the repository is the cause. */
const MISREAD =
  /protocol error|hung up unexpectedly|unknown capability|unknown object format|invalid command|unexpected (line: '|argument|flush)|expected flush/

function refusalOf(complaint: string, path: string): Refusal {
  const said = complaint.trim().slice(0, 500)
  if (MISREAD.test(complaint)) {
    return new Refusal(
      'contradictory_request',
      `The request cannot be read: ${said}. Use git clone or git fetch.`,
    )
  }
  return new Refusal(
    'damaged_repository',
    `git cannot read ${path}: ${said}. Run git fsck there, and put a clone or a backup of it in its place.`,
  )
}

const SERVICE_NAME = Buffer.concat([pktLine('# service=git-upload-pack\n'), FLUSH])

/** Only what the protocol may say reaches the program's environment. */
function protocolOf(header: string): string | undefined {
  return /^[a-z0-9=:.-]{1,200}$/i.test(header) ? header : undefined
}

function tooLong(): Refusal {
  return new Refusal('body_too_large', 'The client lists more objects than anybody has. Clone anew.')
}
