/** A reference of an embed, as the token spells it: the version is text there (interface 10.2). */
export interface EmbedReference {
  readonly id?: string
  readonly slug?: string
  readonly version?: string
}

/** The references of an embed by entity type (`workflow_revision`), in token order. */
export type EmbedReferences = ReadonlyMap<string, EmbedReference>

/** The part of its target that an embed selects (interface 10.8). */
export interface EmbedSelector {
  /** The environment's pin to follow. '' exists only in form C and means none. */
  readonly key?: string
  /** The part of the target's data; in form C, of its `data.parameters`. */
  readonly path?: string
}

/** The path to a value, key by key; never dotted text, because keys may contain dots. */
export type EmbedLocation = readonly (string | number)[]

interface Embed {
  readonly location: EmbedLocation
  /** Empty only in form A, where an embed without references is an error, not plain text. */
  readonly references: EmbedReferences
  readonly selector: EmbedSelector
}

/** Form A: an object that the selected value replaces. */
export interface ObjectEmbed extends Embed {
  readonly form: 'object'
}

/** Forms B (`@svc.embed[…]`) and C (`@{{…}}`): a part of a string that the selected value's text replaces. */
export interface StringEmbed extends Embed {
  readonly form: 'long' | 'short'
  /** The token's literal text. */
  readonly text: string
  /** The start of the text in its string, in UTF-16 units. */
  readonly offset: number
}

/** A token in a document (interface 10.2). */
export type EmbedToken = ObjectEmbed | StringEmbed
