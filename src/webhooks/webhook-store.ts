import { Refusal } from '../errors.ts'
import type { FileStat, Fs } from '../storage/fs.ts'
import { holdingLock } from '../storage/lock-file.ts'
import { parseUuid } from '../versioning/ids.ts'
import { damageOf } from '../versioning/index/damage-of.ts'
import { DeliveryStore } from './deliveries/delivery-store.ts'
import { webhookRecordFile } from './record-file.ts'
import type { Webhook } from './webhook.ts'
import { webhook } from './webhook.ts'

const webhookFile = webhookRecordFile(webhook)

/**
 * The webhooks of a project as the disk has them: a folder each, `<folder>/<id>/webhook.json` and its deliveries. Any process may
 * change one; what another changed is seen at once.
 */
export class WebhookStore {
  readonly #fs: Fs
  readonly #folder: string
  readonly #read = new Map<string, { readonly stat: FileStat; readonly value: Webhook }>()

  constructor(fs: Fs, folder: string) {
    this.#fs = fs
    this.#folder = folder
  }

  /** Every webhook, oldest first. One whose file is damaged is left out of a list, and refused when it is asked for. */
  list(): readonly Webhook[] {
    const found: Webhook[] = []
    for (const id of this.#fs.readDir(this.#folder) ?? []) {
      if (parseUuid(id) !== id) continue
      try {
        const one = this.#current(id)
        if (one) found.push(one)
      } catch (error) {
        if (!(error instanceof Refusal) && !damageOf(error, this.#folder)) throw error
      }
    }
    return found.sort((a, b) => compare(a.created_at, b.created_at) || compare(a.id, b.id))
  }

  /** The webhook of this id. */
  get(id: string): Webhook {
    const found = this.#current(id)
    if (found) return found
    throw new Refusal(
      'webhook_not_found',
      `There is no webhook with the id ${id}. List them with /webhooks/query.`,
    )
  }

  /** The webhook, if it is there and can be read. */
  find(id: string): Webhook | undefined {
    return this.#current(id)
  }

  /** The deliveries of a webhook. */
  deliveries(id: string): DeliveryStore {
    return new DeliveryStore(this.#fs, `${this.#folder}/${id}`, id)
  }

  /** Keeps a new webhook. */
  async add(added: Webhook): Promise<Webhook> {
    this.#fs.makeDir(`${this.#folder}/${added.id}`)
    await this.#replace(added)
    await this.#fs.syncDir(this.#folder)
    return added
  }

  /** Replaces a webhook by what `change` makes of it, under its lock; nothing is written if that is the same. */
  async change(id: string, change: (before: Webhook) => Webhook): Promise<Webhook> {
    this.get(id)
    return holdingLock(this.#fs, this.#folder, id, async () => {
      const before = this.#readOf(id) ?? this.get(id)
      const after = change(before)
      if (after !== before) await this.#replace(after)
      return after
    })
  }

  async #replace(changed: Webhook): Promise<void> {
    const folder = `${this.#folder}/${changed.id}`
    await webhookFile.replace(this.#fs, `${folder}/${FILE}`, changed)
    await this.#fs.syncDir(folder)
  }

  /** Reads it; a copy of another webhook's file is refused, since changes of one would go to the other. */
  #readOf(id: string): Webhook | undefined {
    const path = `${this.#folder}/${id}/${FILE}`
    const found = webhookFile.read(this.#fs, path)
    if (found && found.id !== id) throw webhookFile.damaged(path)
    return found
  }

  /** The webhook as it is now, read again only if its file is another one. */
  #current(id: string): Webhook | undefined {
    const path = `${this.#folder}/${id}/${FILE}`
    const stat = this.#fs.stat(path)
    const known = this.#read.get(id)
    if (!stat) return undefined
    if (known && known.stat.inode === stat.inode && known.stat.modified === stat.modified) return known.value
    const value = this.#readOf(id)
    if (value) this.#read.set(id, { stat, value })
    return value
  }
}

const FILE = 'webhook.json'

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
