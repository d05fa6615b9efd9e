import { Refusal } from '../../errors.ts'
import {
  type Documents,
  documentsOf,
  type FileStat,
  type Fs,
  type ChangedRecord,
} from '../../storage/files.ts'
import { parseUuid, damageOf } from '../../registry/registries.ts'
import { DeliveryStore } from './deliveries/delivery-store.ts'
import { type Webhook, webhook, webhookRecordFile } from './webhook.ts'

const webhookFile = webhookRecordFile(webhook)

/**
 * The webhooks of a project on the disk: a folder for each, `<folder>/<id>/webhook.json` and its deliveries. Any process may change one;
 * the change is seen at once.
 */
export class WebhookStore {
  readonly #fs: Fs
  readonly #documents: Documents
  readonly #folder: string
  readonly #read = new Map<string, { readonly stat: FileStat; readonly value: Webhook }>()

  constructor(fs: Fs, folder: string) {
    this.#fs = fs
    this.#documents = documentsOf(fs)
    this.#folder = folder
  }

  /** Every webhook, oldest first. A damaged one is missing in lists, and refused by id. */
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

  /** The webhook with this id. */
  get(id: string): Webhook {
    const found = this.#current(id)
    if (found) return found
    throw new Refusal(
      'webhook_not_found',
      `There is no webhook with the id ${id}. List them with /webhooks/query.`,
    )
  }

  /** The webhook, if it exists and is readable. */
  find(id: string): Webhook | undefined {
    return this.#current(id)
  }

  /** The deliveries of a webhook. */
  deliveries(id: string): DeliveryStore {
    return new DeliveryStore(this.#fs, `${this.#folder}/${id}`, id)
  }

  /** Stores a new webhook. */
  async add(added: Webhook): Promise<Webhook> {
    await webhookFile.put(this.#documents, this.#pathOf(added.id), added)
    return added
  }

  /** Replaces a webhook by the result of `change`; writes nothing if it is the same. */
  async change(id: string, change: (before: Webhook) => Webhook): Promise<Webhook> {
    this.get(id)
    const changed = (found: Webhook | undefined): ChangedRecord<Webhook, Webhook> => {
      const before = this.#own(id, found) ?? this.get(id)
      const after = change(before)
      return { answer: after, ...(after === before ? {} : { record: after }) }
    }
    const lease = `${this.#folder}/${id}`
    return webhookFile.update(this.#documents, this.#pathOf(id), changed, { lease })
  }

  /** Refuses a copy of another webhook's file, because changes would go to the other one. */
  #own(id: string, found: Webhook | undefined): Webhook | undefined {
    if (found && found.id !== id) throw webhookFile.damaged(this.#pathOf(id))
    return found
  }

  /** The current webhook, read again only if its file was replaced. */
  #current(id: string): Webhook | undefined {
    const path = this.#pathOf(id)
    const stat = this.#fs.stat(path)
    const known = this.#read.get(id)
    if (!stat) return undefined
    if (known && known.stat.inode === stat.inode && known.stat.modified === stat.modified) return known.value
    const value = this.#own(id, webhookFile.read(this.#fs, path))
    if (value) this.#read.set(id, { stat, value })
    return value
  }

  #pathOf(id: string): string {
    return `${this.#folder}/${id}/webhook.json`
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
