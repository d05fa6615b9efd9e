import { COMMAND } from '../../command-name.ts'
import { Refusal, invalid } from '../../errors.ts'
import type { Fs } from '../../storage/files.ts'
import {
  type SecretAct,
  type SecretFile,
  type StoredSecret,
  readSecretFile,
  secretFilePath,
  updateSecretFile,
} from './secret-file.ts'
import { type SecretsKey, makeStoreKey, readStoreKey, secretsKeyPath } from './secrets-key.ts'
import { type KeyObject, createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

export type { SecretPurpose }

/** A secret with its value and purpose. */
export interface Secret extends SecretPurpose {
  readonly value: string
}

/** The parts of a secret that may be shown. */
export interface SecretRecord extends SecretPurpose {
  readonly name: string
  /** ISO 8601, when it was first and last set. */
  readonly createdAt: string
  readonly updatedAt: string
}

/**
 * The secrets of a project, in `<store>/<project>/secrets.json`. Reading refuses with `storage_unavailable` if the key is missing or wrong,
 * or the entry is damaged. Writing never loses other entries.
 */
export class ProjectSecrets {
  readonly #fs: Fs
  readonly #storeDir: string
  readonly #project: string
  readonly #configured: SecretsKey | undefined
  #read: { readonly stamp: string; readonly file: SecretFile | undefined } | undefined

  /** Use `openSecrets`. */
  constructor(fs: Fs, storeDir: string, project: string, configured: SecretsKey | undefined) {
    this.#fs = fs
    this.#storeDir = storeDir
    this.#project = project
    this.#configured = configured
  }

  /** The value of a secret; undefined if it does not exist. */
  async get(name: string): Promise<string | undefined> {
    return (await this.find(name))?.value
  }

  /** A secret with its purpose; undefined if it does not exist. */
  async find(name: string): Promise<Secret | undefined> {
    const file = this.#current()
    const stored = file?.secrets.find((it) => it.name === name)
    if (!file || !stored) return undefined
    const { provider, base_url: baseUrl } = stored
    const place = { project: this.#project, name, provider, baseUrl }
    const value = openValue(this.#keyOf(file).key, stored.sealed, place)
    if (value === undefined) throw this.#damaged(name)
    return { value, provider, baseUrl }
  }

  /** The last changes, the oldest first; of a secret that an earlier version set, when that was. */
  acts(): readonly SecretAct[] {
    const { log = [], secrets = [] } = this.#current() ?? {}
    const noted = new Set(log.map(({ name, date }) => `${name} ${date}`))
    const others = secrets
      .filter(({ name, updated_at: at }) => !noted.has(`${name} ${at}`))
      .map(({ name, updated_at: date }): SecretAct => ({ action: 'set', name, date }))
    return [...others, ...log]
  }

  /** All secrets without values, sorted by name; needs no key. */
  async list(): Promise<readonly SecretRecord[]> {
    return (this.#current()?.secrets ?? []).map(toRecord)
  }

  /**
   * Sets or replaces a secret; resolves when it is durable. Refuses an invalid name, value or purpose, and a key that differs from that of
   * the project's other secrets.
   */
  async set(name: string, value: string, purpose: SecretPurpose = {}, by?: string): Promise<SecretRecord> {
    checkSecret(name, value, purpose)
    return updateSecretFile(this.#fs, this.#storeDir, this.#project, async (file) => {
      const { key, id } = file && file.secrets.length > 0 ? this.#keyOf(file) : await this.#anyKey()
      const { provider, baseUrl } = purpose
      const now = new Date().toISOString()
      const secret: StoredSecret = {
        name,
        ...(provider === undefined ? {} : { provider }),
        ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
        created_at: file?.secrets.find((it) => it.name === name)?.created_at ?? now,
        updated_at: now,
        sealed: sealValue(key, value, { project: this.#project, name, provider, baseUrl }),
      }
      const others = without(file, name)
      assertRoom(others, secret)
      const secrets = [...others, secret].sort((a, b) => (a.name < b.name ? -1 : 1))
      const log = withAct(file, { action: 'set', name, date: now }, by)
      return { record: { format: 1, key: id, secrets, log }, answer: toRecord(secret) }
    })
  }

  /** Removes a secret; resolves when this is durable. Needs no key. False if the secret does not exist. */
  async remove(name: string, by?: string): Promise<boolean> {
    if (!this.#current()?.secrets.some((it) => it.name === name)) return false
    return updateSecretFile(this.#fs, this.#storeDir, this.#project, async (file) => {
      if (!file?.secrets.some((it) => it.name === name)) return { answer: false } // another process was first
      const log = withAct(file, { action: 'removed', name, date: new Date().toISOString() }, by)
      return { record: { ...file, secrets: without(file, name), log }, answer: true }
    })
  }

  /** The current file, read again only after a change. */
  #current(): SecretFile | undefined {
    const stamp = stampOf(this.#fs, secretFilePath(this.#storeDir, this.#project))
    if (this.#read?.stamp !== stamp)
      this.#read = { stamp, file: readSecretFile(this.#fs, this.#storeDir, this.#project) }
    return this.#read.file
  }

  /** The key of the file's secrets. */
  #keyOf(file: SecretFile): SecretsKey {
    const path = secretFilePath(this.#storeDir, this.#project)
    const ownPath = secretsKeyPath(this.#storeDir)
    const key = this.#configured ?? readStoreKey(this.#fs, this.#storeDir)
    if (!key)
      throw unreadable(
        `${path} holds secrets, but their key is not there. Set SECRETS_KEY to it, or restore ${ownPath} from a backup; ` +
          REMEDY,
      )
    if (key.id === file.key) return key
    throw unreadable(
      this.#configured
        ? `${path} was encrypted with another key than the one in SECRETS_KEY. Set SECRETS_KEY to that key, or leave it ` +
            `unset if ${ownPath} holds it; ${REMEDY}`
        : `${path} was encrypted with another key than the one in ${ownPath}. Set SECRETS_KEY to that key, or restore ` +
            `${ownPath} from a backup; ${REMEDY}`,
    )
  }

  /** The key for a project's first secret. If the store's key was lost, refuses instead of creating another one. */
  async #anyKey(): Promise<SecretsKey> {
    const key = this.#configured ?? readStoreKey(this.#fs, this.#storeDir)
    if (key) return key
    for (const project of this.#fs.readDir(this.#storeDir) ?? []) {
      const file = readSecretFile(this.#fs, this.#storeDir, project)
      if (file && file.secrets.length > 0) this.#keyLost(project)
    }
    return makeStoreKey(this.#fs, this.#storeDir)
  }

  #keyLost(project: string): never {
    throw unreadable(
      `Project "${project}" holds secrets, but their key is not there. Set SECRETS_KEY to it, or restore ` +
        `${secretsKeyPath(this.#storeDir)} from a backup; ${REMEDY}`,
    )
  }

  #damaged(name: string): Refusal {
    const path = secretFilePath(this.#storeDir, this.#project)
    return unreadable(
      `The secret ${name} in ${path} cannot be decrypted: it was changed, or came from another project or SECRETS_KEY. ` +
        `Set it anew (${COMMAND} secrets set ${name} --project ${this.#project}), or restore the file from a backup.`,
    )
  }
}

/** The limits of a project, because each change reads and writes all secrets. */
const MAX_SECRETS = 1000
const MAX_SEALED_CHARACTERS = 8 * 1024 * 1024

/** Refuses a secret that would exceed the project's limits. */
function assertRoom(others: readonly StoredSecret[], secret: StoredSecret): void {
  const sealed = others.reduce((sum, other) => sum + other.sealed.length, secret.sealed.length)
  if (others.length < MAX_SECRETS && sealed <= MAX_SEALED_CHARACTERS) return
  throw new Refusal(
    'limit_exceeded',
    `The project may have ${MAX_SECRETS} secrets of ${MAX_SEALED_CHARACTERS} characters in all, encrypted. Remove one that is not needed.`,
  )
}

const REMEDY = 'or, if the key is lost, remove the secrets and set them anew.'

function unreadable(sentence: string): Refusal {
  return new Refusal('storage_unavailable', sentence)
}

/** A replaced file has another inode; size and time also detect an edit in place. */
function stampOf(fs: Fs, path: string): string {
  const stat = fs.stat(path)
  return stat ? `${stat.inode} ${stat.modified} ${stat.size}` : ''
}

function without(file: SecretFile | undefined, name: string): readonly StoredSecret[] {
  return (file?.secrets ?? []).filter((it) => it.name !== name)
}

/** The oldest beyond these are forgotten. */
const MOST_ACTS = 1000

function withAct(file: SecretFile | undefined, act: SecretAct, by: string | undefined): readonly SecretAct[] {
  return [...(file?.log ?? []), { ...act, ...(by === undefined ? {} : { by }) }].slice(-MOST_ACTS)
}

function toRecord(stored: StoredSecret): SecretRecord {
  const { name, provider, base_url: baseUrl, created_at: createdAt, updated_at: updatedAt } = stored
  return {
    name,
    ...(provider === undefined ? {} : { provider }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    createdAt,
    updatedAt,
  }
}

/** The place to which a sealed value is bound: it cannot be opened for another name, project or provider address. */
interface SealedFor {
  readonly project: string
  readonly name: string
  readonly provider: string | undefined
  readonly baseUrl: string | undefined
}

/** Encrypts a value: base64 of nonce (12 bytes), tag (16 bytes) and ciphertext of AES-256-GCM. Equal values give different results. */
function sealValue(key: KeyObject, value: string, place: SealedFor): string {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(associatedData(place))
  const ciphertext = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64')
}

/** Decrypts a value; undefined if it was changed, or sealed with another key or for another place. */
function openValue(key: KeyObject, sealed: string, place: SealedFor): string | undefined {
  const bytes = Buffer.from(sealed, 'base64')
  if (bytes.length < NONCE + TAG) return undefined
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE), { authTagLength: TAG })
    .setAAD(associatedData(place))
    .setAuthTag(bytes.subarray(NONCE, NONCE + TAG))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]).toString('utf8')
  } catch {
    return undefined // `final` throws only if the tag does not match
  }
}

const CIPHER = 'aes-256-gcm'
const NONCE = 12
const TAG = 16

function associatedData({ project, name, provider, baseUrl }: SealedFor): Buffer {
  return Buffer.from(JSON.stringify([project, name, provider ?? null, baseUrl ?? null]))
}

/** The provider of language models that a secret is for. */
interface SecretPurpose {
  /** `openai`, `anthropic` …: makes the secret a connection that prompts can name. */
  readonly provider?: string | undefined
  /** The provider's address, if not the usual one. */
  readonly baseUrl?: string | undefined
}

/** Refuses an invalid name, value or purpose. No message contains the value. */
function checkSecret(name: string, value: string, { provider, baseUrl }: SecretPurpose): void {
  if (!NAME.test(name))
    throw invalid(
      ['name'],
      `${JSON.stringify(name)} is not the name of a secret: use 1 to 100 letters, digits, "_", "." and "-", and begin ` +
        `with a letter or "_".`,
    )
  const bytes = Buffer.byteLength(value)
  if (bytes === 0) throw invalid(['value'], 'the value is empty: give at least one character.')
  if (bytes > MAX_BYTES) throw invalid(['value'], `the value has ${bytes} bytes: give at most ${MAX_BYTES}.`)
  if (provider !== undefined && !PROVIDER.test(provider))
    throw invalid(
      ['provider'],
      `${JSON.stringify(provider)} is not a provider: use lower-case letters, digits, "_" and "-", such as openai.`,
    )
  if (baseUrl !== undefined && !isBaseUrl(baseUrl))
    throw invalid(
      ['base_url'],
      `this is not the base of a provider's URLs: give an http or https URL without user, query and fragment, such as ` +
        `https://api.openai.com/v1.`,
    )
}

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,99}$/
const PROVIDER = /^[a-z][a-z0-9_-]{0,63}$/
const MAX_BYTES = 64 * 1024

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && [username, password, search, hash].every((part) => part === '')
}
