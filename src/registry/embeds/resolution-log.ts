import type { JsonObject } from '../../base/json.ts'
import type { EmbedToken } from './syntax/embed-token.ts'
import { referencesJson } from './references-json.ts'
import type { ResolutionContext, ResolutionCounts } from './resolution-context.ts'

/** A report on resolving embeds, as the wire shows it (interface 10.13). */
export interface ResolutionInfo {
  /** The references of each embed in the host and in what form A inserted, as its token spells them. */
  readonly references_used: readonly JsonObject[]
  readonly depth_reached: number
  readonly embeds_resolved: number
  readonly errors: readonly string[]
}

type Told = Pick<EmbedToken, 'form' | 'references'>

interface Entry<T> {
  readonly pass: number
  readonly form: EmbedToken['form']
  readonly what: T
}

/**
 * Records what was resolved. Reports it in the order that clients expect: pass by pass, form A before B
 * before C.
 */
export class ResolutionLog {
  readonly #used: Entry<JsonObject>[] = []
  readonly #errors: Entry<string>[] = []

  /** Records a resolved embed; `inner` counts the work inside its target. */
  resolved({ form, references }: Told, { run, depth }: ResolutionContext, inner?: ResolutionCounts): void {
    const { tally } = run
    tally.resolved += 1 + (inner?.resolved ?? 0)
    tally.deepest = Math.max(tally.deepest, depth, inner?.deepest ?? 0)
    if (run.target === undefined) this.#used.push({ pass: depth, form, what: referencesJson(references) })
  }

  /** Records a tolerated failure, also inside a target, because its placeholder is visible in the answer. */
  failed(message: string, { form }: Told, { depth }: ResolutionContext): void {
    this.#errors.push({ pass: depth, form, what: message })
  }

  info({ resolved, deepest }: ResolutionCounts): ResolutionInfo {
    return {
      references_used: inOrder(this.#used),
      depth_reached: deepest,
      embeds_resolved: resolved,
      errors: inOrder(this.#errors),
    }
  }
}

const FORMS = ['object', 'long', 'short']

function inOrder<T>(entries: readonly Entry<T>[]): T[] {
  return entries
    .toSorted((a, b) => a.pass - b.pass || FORMS.indexOf(a.form) - FORMS.indexOf(b.form))
    .map(({ what }) => what)
}
