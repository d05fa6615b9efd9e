import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** An Ed25519 key pair that ssh-keygen made. */
export interface KeyPair {
  /** The file of the private key. */
  readonly file: string
  /** `ssh-ed25519 AAAA…`, without a comment. */
  readonly publicLine: string
  readonly fingerprint: string
}

/** Makes a key in a folder; of another type if `more` says so. */
export function makeKey(folder: string, name: string, more: readonly string[] = ['-t', 'ed25519']): KeyPair {
  const file = `${folder}/${name}`
  sshKeygen(['-q', '-N', '', '-C', 'a comment', '-f', file, ...more])
  return {
    file,
    publicLine: readFileSync(`${file}.pub`, 'utf8').split(' ').slice(0, 2).join(' '),
    fingerprint: sshKeygen(['-lf', `${file}.pub`]).split(' ')[1] ?? '',
  }
}

/** The real ssh-keygen (openssh-client), which is also what git checks signatures with. */
export function sshKeygen(args: readonly string[], input?: string | Buffer): string {
  return execFileSync('ssh-keygen', args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] })
}

/** Leaves the tests of a suite out where there is no ssh-keygen, which the project cannot install. */
export function needsSshKeygen(): void {
  before(function () {
    if (spawnSync('ssh-keygen', ['-?']).error) this.skip()
  })
}
