import type { JsonObject } from '../../json/json.ts'
import type { BuiltInSchemas } from '../../resources/workflows/schemas/built-in.ts'

/** What to begin a workflow from: a handler with its schemas and default values (interface 7.13). */
export interface CatalogTemplate {
  readonly key: string
  readonly name?: string
  readonly description: string
  readonly categories: readonly string[]
  readonly flags: CatalogFlags
  readonly uri: string
  /** In those of parameters, defaults are plain values only; objects and arrays are in `parameters`. */
  readonly schemas: BuiltInSchemas
  /** The default parameters; `{}` when there are none. */
  readonly parameters: JsonObject
  readonly presets: readonly CatalogPreset[]
  /** Whether its handler cannot do its work without a provider of models. */
  readonly callsModels: boolean
}

/** What is written down of a template; its schemas and default values are those of its handler. */
export interface HandlerTemplate {
  /** Left out for what is there for tests, which no list needs to name nicely. */
  readonly name?: string
  readonly description: string
  readonly roles: 'application' | 'evaluator' | 'both'
  readonly categories: readonly string[]
  /** Superseded, by a preset of another one; workflows that use it go on working. */
  readonly isArchived?: boolean
  readonly callsModels?: boolean
}

/** Pinned values for a template (interface 7.14). */
export interface CatalogPreset {
  readonly key: string
  readonly name: string
  readonly description: string
  readonly categories: readonly string[]
  readonly parameters?: JsonObject
  readonly schemas?: BuiltInSchemas
}

/** The roles that a workflow made from a template gets, and how the catalog shows the template. */
export interface CatalogFlags {
  readonly is_application: boolean
  readonly is_evaluator: boolean
  readonly is_snippet: boolean
  /** Still usable, but no longer offered. */
  readonly is_archived: boolean
  readonly is_recommended: boolean
}
