import { CorruptObject } from '../objects/errors.ts'
import { KEY_TYPES } from './ssh/key-types.ts'
import { parsePublicKey } from './ssh/public-key.ts'
import { GIT_NAMESPACE } from './ssh/signature.ts'

/** A key whose commit signatures are trusted. */
export interface AllowedSigner {
  /** The public key in wire format. */
  readonly blob: Buffer
  /** Seconds since 1970, the limits of the key's validity; absent for no limit. */
  readonly validAfter?: number | undefined
  readonly validBefore?: number | undefined
}

/**
 * Parses a file in the format of `gpg.ssh.allowedSignersFile` (ssh-keygen(1), ALLOWED SIGNERS): one key per line, `principals [options] type
 * base64`. Skips keys for other namespaces than git's, certificate authorities, and types that are not checked here. Throws `CorruptObject`,
 * with the line number, for an invalid line.
 */
export function parseAllowedSigners(text: string): readonly AllowedSigner[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (/^\s*(?:#|$)/.test(line)) return []
    try {
      return signersOf(line)
    } catch (error) {
      if (!(error instanceof CorruptObject)) throw error
      throw new CorruptObject(`line ${index + 1} ${error.message}`)
    }
  })
}

/** Principals, optionally quoted; options with quoted values; key type; key; optional comment. */
const LINE =
  /^\s*(?:"[^"]*"|\S+)\s+(?:((?:[^\s"]|"[^"]*")+)\s+)?((?:ssh|ecdsa|sk)-[\w@.-]+)\s+([A-Za-z0-9+/]+={0,2})(?:\s|$)/

function signersOf(line: string): readonly AllowedSigner[] {
  const [found, options = '', type = '', base64 = ''] = LINE.exec(line) ?? []
  if (found === undefined) {
    throw new CorruptObject('is not "principals [options] key-type base64-key", as ssh-keygen(1) describes')
  }
  const { namespaces, validAfter, validBefore, isAuthority } = readOptions(options)
  if (!KEY_TYPES.has(type) || isAuthority || !namespaces.some(isForGit)) return []
  if (namespaces.some((pattern) => pattern.startsWith('!') && isForGit(pattern.slice(1)))) return []
  const { blob, type: ownType } = parsePublicKey(Buffer.from(base64, 'base64'))
  if (ownType !== type) throw new CorruptObject('names a type that is not that of its key')
  return [{ blob, validAfter, validBefore }]
}

interface SignerOptions {
  readonly namespaces: readonly string[]
  readonly validAfter: number | undefined
  readonly validBefore: number | undefined
  readonly isAuthority: boolean
}

function readOptions(text: string): SignerOptions {
  if (!OPTION_LIST.test(text)) throw new CorruptObject(`has options that cannot be read: ${text}`)
  const options = new Map<string, string>()
  for (const [, name = '', value = ''] of text.matchAll(/([^=,"]+)(?:="([^"]*)")?(?:,|$)/g)) {
    if (options.has(name.toLowerCase())) throw new CorruptObject(`has the option "${name}" twice`)
    options.set(name.toLowerCase(), value)
  }
  for (const name of options.keys()) {
    if (!OPTIONS.includes(name)) throw new CorruptObject(`has an unknown option "${name}"`)
  }
  return {
    namespaces: (options.get('namespaces') ?? '*').split(','),
    validAfter: secondsOf(options.get('valid-after')),
    validBefore: secondsOf(options.get('valid-before')),
    isAuthority: options.has('cert-authority'),
  }
}

/** `name` or `name="value"`, separated by commas. */
const OPTION_LIST = /^(?:[^=,"]+(?:="[^"]*")?(?:,(?=.)|$))*$/

const OPTIONS = ['cert-authority', 'namespaces', 'valid-after', 'valid-before']

/** `YYYYMMDD` or `YYYYMMDDHHMM[SS]`, in local time unless it ends in Z. */
function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const parts = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z?)$/.exec(text)
  const [, year, month, day, hour = '00', minute = '00', second = '00', zone] = parts ?? []
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`)
  if (Number.isNaN(time)) {
    throw new CorruptObject(`has "${text}", which is not a time like 20261231Z or 20261231235959Z`)
  }
  return time / 1000
}

/** Whether a pattern of ssh_config(5) matches git's namespace. */
function isForGit(pattern: string): boolean {
  const source = pattern
    .replace(/[^\w*?]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${source}$`).test(GIT_NAMESPACE)
}
