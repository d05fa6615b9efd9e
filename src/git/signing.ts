export { type AllowedSigner, parseAllowedSigners } from './signing/allowed-signers.ts'
export { type CommitSignature, signCommit, verifyCommit } from './signing/commit-signature.ts'
export { readKeyFile } from './signing/read-key-file.ts'
export { type SigningKey, parseSigningKey } from './signing/signing-key.ts'
