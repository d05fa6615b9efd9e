import type { CatalogPreset } from './catalog-template.ts'

/** What is written down of a template; its schemas and default values are those of its handler. */
export interface TemplateDefinition {
  readonly key: string
  /** Left out for what is there for tests, which no list needs to name nicely. */
  readonly name?: string
  readonly description: string
  readonly kind: 'builtin' | 'custom'
  readonly roles: 'application' | 'evaluator' | 'both'
  readonly categories: readonly string[]
  readonly isArchived?: boolean
  readonly presets?: readonly CatalogPreset[]
}
