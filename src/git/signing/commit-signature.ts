import type { Commit } from '../objects/object.ts'
import { encodeCommit, parseCommit } from '../objects/object.ts'
import { CorruptObject } from '../objects/errors.ts'
import type { AllowedSigner } from './allowed-signers.ts'
import type { SigningKey } from './signing-key.ts'
import { BEGIN, GIT_NAMESPACE, checkSsh, signSsh } from './ssh/signature.ts'

/**
 * The result of checking a commit's signature:
 *
 * - `good`: valid, by a key that was allowed to sign at that time;
 * - `unknown_key`: by another key, or of a kind that is not checked here (OpenPGP, X.509, certificates and security keys of SSH);
 * - `bad`: invalid for this commit, or malformed;
 * - `none`: the commit is not signed.
 */
export type SignatureStatus = 'good' | 'unknown_key' | 'bad' | 'none'

export interface CommitSignature {
  readonly status: SignatureStatus
  /** The fingerprint of the key in an SSH signature. */
  readonly key?: string
}

/** Checks the signature of a commit, given by its exact bytes, as `git verify-commit` does (gitformat-signature). */
export function verifyCommit(bytes: Buffer, allowed: readonly AllowedSigner[]): CommitSignature {
  const { signed, signature } = takeApart(bytes)
  if (signature === undefined) return { status: 'none' }
  if (!signature.startsWith(BEGIN)) return { status: 'unknown_key' }
  try {
    const { publicKey, isRight } = checkSsh(GIT_NAMESPACE, signed, signature)
    const key = publicKey.fingerprint
    if (isRight === false) return { status: 'bad', key }
    const { seconds } = parseCommit(bytes).committer
    const isAllowed = isRight && allowed.some((signer) => isOf(signer, publicKey.blob, seconds))
    return { status: isAllowed ? 'good' : 'unknown_key', key }
  } catch (error) {
    if (error instanceof CorruptObject) return { status: 'bad' }
    throw error
  }
}

/**
 * The signed bytes, which are the commit without `gpgsig…` headers, and the signature. As in git, several `gpgsig` headers are joined, and
 * the result is then not valid armour.
 */
function takeApart(bytes: Buffer): { readonly signed: Buffer; readonly signature: string | undefined } {
  // Latin-1 keeps every byte.
  const text = bytes.toString('latin1')
  const end = text.indexOf('\n\n')
  const headers = end < 0 ? text : text.slice(0, end)
  const signed: string[] = []
  const signature: string[] = []
  let kind: 'signature' | 'other signature' | 'signed' = 'signed'
  for (const line of headers.split('\n')) {
    const isMore = line.startsWith(' ')
    if (!isMore) kind = kindOf(line)
    if (kind === 'signed') signed.push(line)
    if (kind === 'signature') signature.push(isMore ? line.slice(1) : line.slice(SIGNATURE.length))
  }
  return {
    signed: Buffer.from(signed.join('\n') + text.slice(headers.length), 'latin1'),
    signature: signature.length > 0 ? signature.join('\n') : undefined,
  }
}

const SIGNATURE = 'gpgsig '

/** Signatures for other hashes (`gpgsig-sha256`) are not part of the signed bytes either. */
function kindOf(line: string): 'signature' | 'other signature' | 'signed' {
  if (line.startsWith(SIGNATURE)) return 'signature'
  return line.startsWith('gpgsig') ? 'other signature' : 'signed'
}

function isOf({ blob, validAfter, validBefore }: AllowedSigner, by: Buffer, seconds: number): boolean {
  return blob.equals(by) && seconds >= (validAfter ?? 0) && seconds <= (validBefore ?? Infinity)
}

/** The commit with a signature as its last header, as `git commit -S` adds it. */
export function signCommit(commit: Commit, key: SigningKey): Commit {
  const gpgsig = { key: 'gpgsig', value: signSsh(GIT_NAMESPACE, encodeCommit(commit), key) }
  return { ...commit, headers: [...(commit.headers ?? []), gpgsig] }
}
