// Writes docs/reference/spec-coverage.md: each item of the specification and the tests that prove it.
import { writePage } from '../spec-coverage/spec-coverage.mjs';

writePage();
