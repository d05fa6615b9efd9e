import { EmbedRefusal } from '../../../src/registry/embeds/embed-refusal.ts'

/** The refusal that the work ends in. */
export async function refusalOf(work: Promise<unknown> | (() => unknown)): Promise<EmbedRefusal> {
  try {
    await (typeof work === 'function' ? work() : work)
  } catch (error) {
    if (error instanceof EmbedRefusal) return error
    throw error
  }
  throw new Error('nothing was refused')
}
