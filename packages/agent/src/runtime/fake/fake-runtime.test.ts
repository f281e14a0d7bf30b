import { describeRuntimeContract } from '../conformance.ts';
import { makeFakeService } from '../testing/fake-service.ts';

describeRuntimeContract('the fake adapter', () => makeFakeService());
