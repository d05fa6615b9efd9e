/** One reference of an embed, as the token spells it: the version is text there (interface 10.2). */
export interface EmbedReference {
  readonly id?: string
  readonly slug?: string
  readonly version?: string
}

/** The references of one embed by entity type (`workflow_revision`), in the order of the token. */
export type EmbedReferences = ReadonlyMap<string, EmbedReference>

/** What an embed takes of its target (interface 10.8). */
export interface EmbedSelector {
  /** The pin of an environment to follow. '' exists in form C only and says that none is followed. */
  readonly key?: string
  /** The part of the target's data; in form C of its `data.parameters`. */
  readonly path?: string
}

/** The way to a value, key by key; never dotted text, since keys may hold dots. */
export type EmbedLocation = readonly (string | number)[]

interface Embed {
  readonly location: EmbedLocation
  /** Empty only in form A, where an embed without any is a mistake and not just text. */
  readonly references: EmbedReferences
  readonly selector: EmbedSelector
}

/** Form A: an object that the selected value replaces whole. */
export interface ObjectEmbed extends Embed {
  readonly form: 'object'
}

/** Forms B (`@svc.embed[…]`) and C (`@{{…}}`): a piece of a string that the selected value's text replaces. */
export interface StringEmbed extends Embed {
  readonly form: 'long' | 'short'
  /** The token's literal text. */
  readonly text: string
  /** Where the text begins in its string, in UTF-16 units. */
  readonly offset: number
}

/** A token that a document holds (interface 10.2). */
export type EmbedToken = ObjectEmbed | StringEmbed
