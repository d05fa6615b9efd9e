import { Readable } from 'node:stream'
import { Refusal } from '../../../../errors.ts'
import type { AllRefs } from '../../../../git/refs/list-refs.ts'
import { startGit } from '../../../../git/process/git-process.ts'
import { GitFailure } from '../../../../git/process/git-process.ts'
import { gitEnvironment } from '../../../../git/process/git-environment.ts'
import { differenceOf } from '../../../../versioning/artifacts/restore-artifact.ts'
import type { Door } from './door.ts'
import { ask } from './door.ts'
import { KEPT } from '../kept-refs.ts'
import { remoteRefs } from './remote-refs.ts'
import type { Target } from './target.ts'

/** The project behind a server of a key with the scope admin; each repository goes there as a git bundle. */
export function httpTarget(door: Door): Target {
  const restore: Target['restore'] = async ({ family, slug }, mirror, refs) => {
    const path = `/git/${family}/${encodeURIComponent(slug)}.git`
    const there = await refsThere(door, path)
    if (there && differenceOf(there, refs) === undefined) return 'there'
    const head = encodeURIComponent(refs.head.replace(/^ref: /, ''))
    const { output, ended } = startGit({
      args: [`--git-dir=${mirror}`, 'bundle', 'create', '--quiet', '-', `--exclude=${KEPT}*`, '--all'],
      env: gitEnvironment(),
      signal: door.signal,
    })
    // What the server says of a bundle that broke off is less than what git said.
    const [sent, bundled] = await Promise.allSettled([
      ask(door, 'PUT', `${path}?head=${head}`, Readable.toWeb(output) as ReadableStream),
      ended,
    ])
    if (bundled.status === 'fulfilled' && bundled.value.code !== 0)
      throw new GitFailure(bundled.value.complaint, bundled.value.code)
    if (sent.status === 'rejected') throw sent.reason
    return (sent.value as { outcome: 'restored' | 'replaced' | 'there' }).outcome // our own server's answer
  }
  return {
    name: `the server at ${door.base}`,
    restore,
    check: async () => [],
    close: async () => undefined,
  }
}

async function refsThere(door: Door, path: string): Promise<AllRefs | undefined> {
  try {
    return await remoteRefs(`${door.base}${path}`, door)
  } catch (error) {
    if (error instanceof Refusal && error.code === 'artifact_not_found') return undefined
    throw error
  }
}
