import type { Readable } from 'node:stream'
import { gitEnvironment } from './git-environment.ts'
import type { GitChild } from './git-process.ts'
import { startGit } from './git-process.ts'

/** A request of a client (git-upload-pack(1)). */
export interface Fetch {
  /** The inflated body; undefined asks for the advertisement. */
  readonly input: AsyncIterable<Buffer> | undefined
  /** The protocol in the `Git-Protocol` header: `version=2`. */
  readonly protocol: string | undefined
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
  /** Refs that are not shown, below a ref or a folder of refs. */
  readonly hidden?: string | undefined
}

/**
 * Answers a fetch with git; resolves when its output begins or it has ended. Partial and shallow clones, and any object by id, are allowed.
 */
export async function uploadPack(
  gitdir: string,
  { input, protocol, signal, hidden }: Fetch,
): Promise<GitChild> {
  const config = hidden === undefined ? ALLOWED : { ...ALLOWED, 'uploadpack.hideRefs': hidden }
  const child = startGit({
    args: ['upload-pack', '--strict', '--stateless-rpc', ...(input ? [] : ['--advertise-refs']), gitdir],
    env: gitEnvironment(config, protocol === undefined ? {} : { GIT_PROTOCOL: protocol }),
    input,
    signal,
  })
  await begun(child.output, child.ended)
  return child
}

const ALLOWED = {
  'uploadpack.allowFilter': 'true',
  'uploadpack.allowAnySHA1InWant': 'true',
}

function begun(output: Readable, ended: Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    output.once('readable', resolve)
    ended.then(() => resolve(), reject)
  })
}
