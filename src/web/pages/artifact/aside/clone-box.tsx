import { Copyable } from '../../../parts/copy/copyable.tsx'
import type { Artifact } from '../../../api/artifact-kind.ts'

/** The command that clones the artifact, and what a push does. */
export function CloneBox({ artifact }: { readonly artifact: Artifact }) {
  return (
    <section>
      <h2>Clone</h2>
      <Copyable text={cloneCommand(artifact)} label="Clone with git" />
      <p>Any user name, an API key as the password. A push to a branch is a new version of that variant.</p>
    </section>
  )
}

/** `git clone` with the key where a shell has it, as the guide does. */
export function cloneCommand({ git_url: url }: Pick<Artifact, 'git_url'>): string {
  return `git clone "${url.replace('://', '://me:$BRANCHPOINT_KEY@')}"`
}
