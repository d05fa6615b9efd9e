import type { JsonObject } from '../../base/json.ts'
import type { BuiltInSchemas } from '../../registry/workflows.ts'

/** A starting point for a workflow: a handler with its schemas and default values (interface 7.13). */
export interface CatalogTemplate {
  readonly key: string
  readonly name?: string
  readonly description: string
  readonly categories: readonly string[]
  readonly flags: CatalogFlags
  readonly uri: string
  /** In the schema of parameters, defaults are only scalars; objects and arrays are in `parameters`. */
  readonly schemas: BuiltInSchemas
  /** The default parameters; `{}` when there are none. */
  readonly parameters: JsonObject
  readonly presets: readonly CatalogPreset[]
  /** Whether its handler needs a provider of models. */
  readonly callsModels: boolean
}

/** The written part of a template; its schemas and default values come from its handler. */
export interface HandlerTemplate {
  /** Absent for a handler that only tests use. */
  readonly name?: string
  readonly description: string
  readonly roles: 'application' | 'evaluator' | 'both'
  readonly categories: readonly string[]
  /** Superseded by a preset of another template; workflows that use it keep working. */
  readonly isArchived?: boolean
  readonly callsModels?: boolean
}

/** A set of values for a template (interface 7.14). */
export interface CatalogPreset {
  readonly key: string
  readonly name: string
  readonly description: string
  readonly categories: readonly string[]
  readonly parameters?: JsonObject
  readonly schemas?: BuiltInSchemas
}

/** The roles of a workflow made from a template, and how the catalog shows the template. */
export interface CatalogFlags {
  readonly is_application: boolean
  readonly is_evaluator: boolean
  readonly is_snippet: boolean
  /** Still usable, but no longer offered. */
  readonly is_archived: boolean
  readonly is_recommended: boolean
}
