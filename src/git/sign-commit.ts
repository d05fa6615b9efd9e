import { encodeCommit, type Commit } from './commit.ts'
import type { SigningKey } from './signing-key.ts'
import { signSsh } from './ssh-signature.ts'

/** What git signs for (`ssh-keygen -Y sign -n git`). */
export const GIT_NAMESPACE = 'git'

/** The commit with a signature of its bytes as its last header, which is where `git commit -S` puts it. */
export function signCommit(commit: Commit, key: SigningKey): Commit {
  const gpgsig = { key: 'gpgsig', value: signSsh(GIT_NAMESPACE, encodeCommit(commit), key) }
  return { ...commit, headers: [...(commit.headers ?? []), gpgsig] }
}
