import { Refusal } from '../../errors.ts'
import { type JsonObject, stringifyJson } from '../../base/json.ts'
import type { DocumentDefinition } from '../payload/document-family.ts'
import type { DocumentJob, DocumentJobResult, DocumentWork } from '../payload/large-document.ts'
import { queryDocument } from '../families/query-family.ts'
import { HandlerTable } from '../workflows/workflow-data.ts'
import { workflowDocumentOf } from '../workflows/workflow-family.ts'
import type { SentDefinition } from './document-thread.ts'

/**
 * Runs in a thread: finds the files besides `main` that hold parts of a document, and how often each occurs
 * in it.
 */
export function filesBeside({
  definition,
  main,
}: Pick<DocumentJob, 'definition'> & { readonly main: Uint8Array }): Promise<DocumentJobResult> {
  return unlessRefused(async () => definitionOf(definition).filesBeside?.(bufferOf(main)) ?? new Map())
}

/** Runs in a thread: decodes a document from its files and does the work. */
export function doDocumentJob({ definition, files, work }: DocumentJob): Promise<DocumentJobResult> {
  return unlessRefused(async () => {
    const known = definitionOf(definition)
    const read = async (path: string): Promise<Buffer | undefined> => {
      const bytes = files.get(path)
      return bytes && bufferOf(bytes)
    }
    const data = await known.decode(read, work.do === 'check' ? work.maxValues : undefined)
    if (!data) throw new Error('a document without its file was sent to a thread')
    return workOn(known, data, work)
  })
}

async function workOn(
  definition: DocumentDefinition,
  data: JsonObject,
  work: DocumentWork,
): Promise<unknown> {
  switch (work.do) {
    case 'flags':
      return definition.flags(data)
    case 'present':
      return Buffer.from(stringifyJson(definition.present(data, work.context)))
    case 'check':
      await definition.accept(data, { loc: [], servicesBase: work.servicesBase })
      return undefined
    case 'call': {
      const exported = (await import(work.module)) as Readonly<
        Record<string, (document: JsonObject) => unknown>
      >
      return exported[work.name]?.(data)
    }
  }
}

function definitionOf(sent: unknown): DocumentDefinition {
  const definition = sent as SentDefinition // the families below send no others
  return definition.name === 'query'
    ? queryDocument
    : workflowDocumentOf(new HandlerTable(definition.handlers))
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** An error loses its class between threads, so refusals are returned as results. */
async function unlessRefused(work: () => Promise<unknown>): Promise<DocumentJobResult> {
  try {
    return { done: await work() }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { code, message } = error
    return { refused: { code, message } }
  }
}
