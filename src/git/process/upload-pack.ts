import type { Readable } from 'node:stream'
import { gitEnvironment } from './git-environment.ts'
import type { GitChild } from './git-process.ts'
import { startGit } from './git-process.ts'

/** What a client asks of a repository (git-upload-pack(1)). */
export interface Fetch {
  /** What it sent, inflated; undefined asks for the advertisement. */
  readonly input: AsyncIterable<Buffer> | undefined
  /** The protocol it speaks, as its `Git-Protocol` header says it: `version=2`. */
  readonly protocol: string | undefined
  /** The client has gone. */
  readonly signal: AbortSignal
}

/**
 * Has the git program answer a fetch, and resolves once it begins to answer or has ended: partial and shallow clones and any
 * object by its id are allowed.
 */
export async function uploadPack(gitdir: string, { input, protocol, signal }: Fetch): Promise<GitChild> {
  const child = startGit({
    args: ['upload-pack', '--strict', '--stateless-rpc', ...(input ? [] : ['--advertise-refs']), gitdir],
    env: gitEnvironment(ALLOWED, protocol === undefined ? {} : { GIT_PROTOCOL: protocol }),
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
