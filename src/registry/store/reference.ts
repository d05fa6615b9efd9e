/** A reference object of interface 5.1: an id, or a slug with or without a version. */
export interface Reference {
  readonly id?: string | undefined
  readonly slug?: string | undefined
  readonly version?: number | undefined
}

/** The references of a request. Their request names (`workflow_variant_ref`) are `label`s in sentences. */
export interface References {
  readonly artifact?: Reference | undefined
  readonly variant?: Reference | undefined
  readonly revision?: Reference | undefined
}

/** What a payload of pins holds under one key: references by name, such as `application_revision`. */
export interface Pin {
  readonly key: string
  readonly references: ReadonlyMap<string, Reference>
}
