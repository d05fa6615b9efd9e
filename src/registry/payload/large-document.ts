import { Refusal } from '../../errors.ts'
import type { TreeEntry } from '../../git/objects.ts'
import { type AsideCall, runAside } from '../../base/scheduling.ts'
import type { DocumentLimits } from './document-limits.ts'
import type { PresentContext } from './family.ts'
import { FolderTree, type ObjectReader } from './tree-files.ts'

/** The files of a document by their paths. */
export type DocumentFiles = ReadonlyMap<string, Uint8Array>

/** What a thread does with a document. */
export type DocumentWork =
  | { readonly do: 'flags' }
  | {
      readonly do: 'present'
      readonly context: Pick<PresentContext, 'servicesBase' | 'revisionId' | 'versionType'>
    }
  | { readonly do: 'check'; readonly servicesBase: string; readonly maxValues: number }
  /** Calls what a module exports with the document. */
  | { readonly do: 'call'; readonly module: string; readonly name: string }

/** What is sent to a thread. */
export interface DocumentJob {
  /** As its definition knows itself. */
  readonly definition: unknown
  readonly files: DocumentFiles
  readonly work: DocumentWork
}

/** What comes back; what was refused loses its class on the way. */
export type DocumentJobResult =
  { readonly done: unknown } | { readonly refused: Pick<Refusal, 'code' | 'message'> }

/** How a family has its large documents worked on in a thread. */
export interface DocumentThread {
  /** The URL of the built module that exports `doDocumentJob` and `filesBeside`. */
  readonly module: string
  /** Tells the module which definition is meant. Can be sent to a thread. */
  readonly definition: unknown
}

/** What a large document is read by. */
export interface LargeDocumentPlace {
  readonly thread: DocumentThread
  /** The file that its family reads first. */
  readonly file: string
  /** Of the commit's root. */
  readonly entries: readonly TreeEntry[]
  readonly limits: DocumentLimits
  /** Where its repository can be cloned. */
  readonly address: string | undefined
}

/**
 * A document that is larger than what a commit may bring today: an earlier version stored it, or a restore brought it. It is never held
 * decoded: what is done with it is done in a thread, which gets its files anew, or refused.
 */
export class LargeDocument {
  readonly flags: Readonly<Record<string, boolean>>
  /** The files beside the first that hold parts of it, and how many times each stands in it. */
  readonly files: ReadonlyMap<string, number>
  readonly #place: LargeDocumentPlace

  private constructor(
    place: LargeDocumentPlace,
    files: ReadonlyMap<string, number>,
    flags: Readonly<Record<string, boolean>>,
  ) {
    this.#place = place
    this.files = files
    this.flags = flags
  }

  /**
   * Refuses what does not decode, and what unfolds to more than a stored document may (`document_too_large`). Ends with the signal's reason
   * when that comes while it waits for a thread.
   */
  static async open(
    place: LargeDocumentPlace,
    source: ObjectReader,
    signal?: AbortSignal,
  ): Promise<LargeDocument> {
    const { thread, file } = place
    const filesBeside = async (): Promise<AsideCall> => {
      const [main] = (await readFiles(place, new Map(), source)).values()
      return {
        module: thread.module,
        name: 'filesBeside',
        argument: { definition: thread.definition, file, main },
      }
    }
    const files = await run<ReadonlyMap<string, number>>(place, filesBeside, signal)
    return new LargeDocument(place, files, await doWork(place, files, source, { do: 'flags' }, signal))
  }

  /** The JSON text that a reader sees. */
  present({ source, servicesBase, revisionId, versionType, signal }: PresentContext): Promise<Uint8Array> {
    const context = { servicesBase, revisionId, versionType }
    return doWork(this.#place, this.files, source, { do: 'present', context }, signal)
  }

  /** Refuses a document that no commit over REST could have brought, whatever its size. */
  async check(source: ObjectReader, servicesBase: string): Promise<void> {
    const { maxValues } = this.#place.limits
    await doWork(this.#place, this.files, source, { do: 'check', servicesBase, maxValues })
  }

  /** What an exported function of a built module answers for the document, in a thread; it has to be what can be sent from there. */
  call<T>(source: ObjectReader, module: URL, name: string, signal?: AbortSignal): Promise<T> {
    return doWork(this.#place, this.files, source, { do: 'call', module: module.href, name }, signal)
  }

  /** Why something else cannot be done with it. */
  refusal(): Refusal {
    const { address, limits } = this.#place
    return tooLargeToRead(limits.maxDocumentBytes, address)
  }
}

/** The refusal to read, compare or change what is stored; `address` is where its repository can be cloned. */
export function tooLargeToRead(limit: number, address: string | undefined): Refusal {
  const clone = address === undefined ? 'Clone its repository' : `Clone it (git clone ${address})`
  return new Refusal(
    'document_too_large',
    `The data of this revision unfolds to more than ${limit} bytes, its texts filled in, which is the most that this takes. ${clone} to ` +
      'look at it and to cut it down, or commit smaller data in its place.',
    { details: { limit_bytes: limit, ...(address === undefined ? {} : { git_url: address }) } },
  )
}

function doWork<T>(
  place: LargeDocumentPlace,
  beside: ReadonlyMap<string, number>,
  source: ObjectReader,
  work: DocumentWork,
  signal?: AbortSignal,
): Promise<T> {
  const { module, definition } = place.thread
  const call = async (): Promise<AsideCall> => {
    const job: DocumentJob = { definition, files: await readFiles(place, beside, source), work }
    return { module, name: 'doDocumentJob', argument: job }
  }
  return run(place, call, signal)
}

/** All files of the document; refuses them once they are too large together. A text counts each time that it stands in the document. */
async function readFiles(
  { file, entries, limits, address }: LargeDocumentPlace,
  beside: ReadonlyMap<string, number>,
  source: ObjectReader,
): Promise<DocumentFiles> {
  const tree = new FolderTree(source, entries)
  const files = new Map<string, Uint8Array>()
  let size = 0
  for (const [path, times] of [[file, 1] as const, ...beside]) {
    const bytes = await tree.read(path)
    size += (bytes?.length ?? 0) * times
    if (size > limits.maxBytes) throw tooLargeToRead(limits.maxBytes, address)
    if (bytes) files.set(path, bytes)
  }
  return files
}

async function run<T>(
  { limits, address }: LargeDocumentPlace,
  prepare: () => Promise<AsideCall>,
  signal: AbortSignal | undefined,
): Promise<T> {
  try {
    const result = await runAside<DocumentJobResult>(prepare, signal)
    if ('refused' in result) throw new Refusal(result.refused.code, result.refused.message)
    return result.done as T // what the work answers
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error
    throw tooLargeToRead(limits.maxDocumentBytes, address)
  }
}
